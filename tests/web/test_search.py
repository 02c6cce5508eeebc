"""Search as you type: answers, marks, filters, the address, and what is said when there is nothing."""

import json
import re
from typing import Any

from playwright.sync_api import Request, Route, expect

from web.conftest import Visit


def body_of(request: Request) -> dict[str, Any]:
    """What is asked of the API."""
    return json.loads(request.post_data or "{}")


def test_typing_finds_passages_with_their_words_marked_and_their_place_named(visit: Visit):
    page = visit.search("ferns damp soil")
    first = page.locator(".result").first
    expect(first.locator(".result-title")).to_have_text("Watering")
    expect(first.locator(".path")).to_contain_text("plants/watering.md")
    expect(first.locator(".heading").last).to_have_text("Ferns")
    assert "damp" in [mark.lower() for mark in first.locator("mark").all_inner_texts()]
    expect(first.locator(".chip").first).to_have_text(re.compile(r"^lines? \d+"))
    expect(first.locator(".score")).to_contain_text(re.compile(r"0\.\d\d|1\.00"))


def test_marks_stand_where_they_belong_behind_characters_that_javascript_counts_twice(visit: Visit):
    page = visit.search("quaternion")
    expect(page.locator(".result mark").first).to_have_text("quaternion")


def test_words_answer_first_and_a_refined_answer_follows(visit: Visit):
    modes = []
    visit.page.on(
        "request", lambda request: modes.append(request.post_data_json["mode"]) if request.post_data else None
    )
    visit.search("ladybirds")
    assert modes[0] == "lex"
    assert modes[-1] == "auto"


def test_an_answer_that_comes_late_is_dropped(visit: Visit):
    held: list[Route] = []

    def hold(route: Route) -> None:
        if body_of(route.request)["query"] == "aphids":
            held.append(route)
        else:
            route.continue_()

    visit.page.route("**/api/v1/search", hold)
    page = visit.open()
    box = page.get_by_role("searchbox", name="Search your documents")
    with page.expect_request("**/api/v1/search"):
        box.fill("aphids")
    box.fill("radishes")
    page.locator('#results[data-stage="last"][data-query="radishes"]').wait_for(state="attached")
    for route in held:
        route.abort() if route.request.failure else route.continue_()
    expect(page.locator(".result-title").first).to_have_text(re.compile("diary"))


def test_the_mode_says_what_is_asked(visit: Visit):
    page = visit.search("ladybirds")
    for name, mode in {"Meaning": "vec", "Words": "lex", "Both": "hybrid"}.items():
        with page.expect_request(lambda request, mode=mode: body_of(request).get("mode") == mode):
            page.get_by_role("radio", name=name).check()
    assert "mode=hybrid" in page.url


def test_collections_types_and_dates_narrow_the_results(visit: Visit):
    page = visit.search("gardens")
    page.get_by_role("checkbox", name="papers").check()
    expect(page.locator(".result .path").first).to_contain_text("papers/")
    assert "in=papers" in page.url
    page.get_by_role("button", name="Clear filters").first.click()
    page.get_by_role("checkbox", name="PDF").check()
    expect(page.locator(".result .path").first).to_contain_text("almanac.pdf")
    past_year = {"type": {"$in": ["application/pdf"]}, "date": {"$gte": "1y"}}
    with page.expect_request(lambda request: body_of(request).get("filters") == past_year):
        page.get_by_role("radio", name="Past year").check()
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()  # the file says that it is of 2000
    long_ago = past_year | {"date": {"$lte": "2001-01-01"}}
    with page.expect_request(lambda request: body_of(request).get("filters") == long_ago):
        page.get_by_label("Not after this day").fill("2001-01-01")
    expect(page.locator(".result .path").first).to_contain_text("almanac.pdf")


def test_the_address_holds_the_question_and_can_be_shared(visit: Visit):
    page = visit.search("radishes sprouted")
    page.wait_for_url(re.compile(r"q=radishes"))
    page.get_by_role("checkbox", name="plants").check()
    shared = page.url
    assert "token" not in shared
    page.goto("about:blank")
    page.goto(shared)
    expect(page.get_by_role("searchbox", name="Search your documents")).to_have_value("radishes sprouted")
    expect(page.get_by_role("checkbox", name="plants")).to_be_checked()
    expect(page.locator(".result-title").first).to_have_text(re.compile("diary"))


def test_the_back_button_leads_from_question_to_question(visit: Visit):
    page = visit.search("radishes")
    box = page.get_by_role("searchbox", name="Search your documents")
    box.press("Enter")
    box.fill("aphids")
    page.wait_for_url(re.compile("q=aphids"))
    page.go_back()
    expect(box).to_have_value("radishes")
    expect(page.locator(".result-title").first).to_have_text(re.compile("diary"))


def test_a_result_comes_back_as_it_was_left(visit: Visit):
    page = visit.search("radishes")
    page.locator(".result-title a").first.click()
    expect(page.locator(".document h1")).to_be_visible()
    page.go_back()
    expect(page.locator(".result-title a").first).to_be_focused()


def test_before_any_question_the_latest_documents_are_shown(visit: Visit):
    page = visit.open()
    expect(page.get_by_role("heading", name="Lately changed")).to_be_visible()
    expect(page.locator(".latest li").first).to_be_visible()


def test_no_result_says_what_to_do(visit: Visit):
    page = visit.search("xylophonequartz", "/?mode=words")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    page.get_by_role("button", name="Search by meaning too").click()
    assert "mode=hybrid" in page.url


def test_an_error_of_the_server_is_shown_with_its_hint_and_can_be_tried_again(visit: Visit):
    page = visit.search("nonsense:(", "/?mode=words&in=nowhere")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("nowhere")
    expect(alert.get_by_role("button", name="Try again")).to_be_visible()


def test_a_server_that_does_not_answer_is_told_in_words(visit: Visit):
    page = visit.open()
    expect(page.locator(".latest")).to_be_visible()
    page.route("**/api/v1/search", lambda route: route.abort())
    page.get_by_role("searchbox", name="Search your documents").fill("ferns")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    visit.complaints.clear()  # the browser notes the aborted request


def test_the_explanation_draws_how_a_hit_got_its_rank(visit: Visit):
    page = visit.search("ferns damp soil")
    page.locator(".explain-button").first.click()
    panel = page.locator(".explain").first
    expect(panel).to_contain_text("Words")
    expect(panel).to_contain_text("Score")
    assert panel.locator("rect.lex").count() >= 1
    width = float(panel.locator("rect.final").get_attribute("width") or 0)
    shown = float(page.locator(".result .score").first.inner_text().split()[-1])
    assert abs(width / 1000 - shown) < 0.01


def test_the_citation_of_a_result_goes_to_the_clipboard(visit: Visit):
    page = visit.search("ferns damp soil")
    page.locator(".cite-button").first.click()
    expect(page.locator(".cite-button").first).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("dowse://plants/watering.md?")


def test_more_results_come_when_they_are_asked_for(visit: Visit):
    page = visit.search("ledger row", "/?mode=words")
    button = page.get_by_role("button", name="Show more")
    if button.count():
        before = page.locator(".result").count()
        button.click()
        expect(page.locator(".result").nth(before)).to_be_visible()


def test_the_start_does_not_cover_an_answer_when_it_comes_late(visit: Visit):
    held: list[Route] = []
    visit.page.route("**/api/v1/documents?*", lambda route: held.append(route))  # noqa: PLW0108  # Playwright takes no builtin
    with visit.page.expect_request("**/api/v1/documents?*"):
        page = visit.open()
    page.get_by_role("searchbox", name="Search your documents").fill("radishes")
    page.locator('#results[data-stage="last"][data-query="radishes"]').wait_for(state="attached")
    with page.expect_response("**/api/v1/documents?*"):
        held[0].continue_()
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator(".latest")).to_have_count(0)
