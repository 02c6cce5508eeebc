"""The page around its views: keys, colours, narrow screens, and those who cannot see it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from web.conftest import Visit

VIEWS = {
    "search": ("/?q=ferns", ".result"),
    "start": ("/", ".latest li"),
    "nothing": ("/?q=xylophonequartz", ".notice"),
    "document": ("/?doc=plants/watering.md&lines=5-8", ".cited-group"),
    "code": ("/?doc=plants/pump.py&lines=4-8", ".line.cited"),
    "pages": ("/?doc=papers/almanac.pdf", ".page"),
    "map": ("/?view=map", ".legend li"),
    "collections": ("/?view=collections", "#unread li"),
    "status": ("/?view=status", ".plot"),
}


@pytest.mark.parametrize("name", list(VIEWS))
def test_every_view_is_accessible_in_light_and_dark(visit: Visit, name: str):
    address, shown = VIEWS[name]
    page = visit.open(address)
    page.locator(shown).first.wait_for()
    if name == "search":
        page.locator(".explain-button").first.click()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]  # one of the two
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        found = Axe().run(page).response["violations"]
        assert not [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found], theme


@pytest.mark.parametrize("name", list(VIEWS))
def test_no_view_is_wider_than_a_phone(phone: Visit, name: str):
    address, shown = VIEWS[name]
    page = phone.open(address)
    page.locator(shown).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_everything_is_reached_by_keys(visit: Visit):
    page = visit.search("radishes")
    box = page.get_by_role("searchbox", name="Search your documents")
    links = page.locator(".result-title a")
    box.press("ArrowDown")
    expect(links.first).to_be_focused()
    page.keyboard.press("e")
    expect(page.locator(".explain")).to_be_visible()
    page.keyboard.press("k")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".document")).to_be_visible()
    page.keyboard.press("Escape")
    expect(links.first).to_be_focused()
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(box).to_have_value("")


def test_j_and_k_walk_through_the_results(visit: Visit):
    page = visit.search("the")
    links = page.locator(".result-title a")
    page.keyboard.press("Tab")
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(links.nth(0)).to_be_focused()


def test_the_help_lists_the_keys_and_closes(visit: Visit):
    page = visit.open("/?view=status")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Next result")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_colours_follow_the_system_until_somebody_chooses(visit: Visit):
    visit.page.emulate_media(color_scheme="dark")
    page = visit.open()
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Use dark colours").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")


def test_the_views_are_landmarks_with_one_heading(visit: Visit):
    page = visit.search("ferns")
    for role in ("banner", "main", "search"):
        expect(page.get_by_role(role)).to_have_count(1)  # type: ignore[arg-type]  # names of landmarks
    expect(page.locator("h1")).to_have_count(1)
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Status").click()
    expect(page.get_by_role("link", name="Status")).to_have_attribute("aria-current", "page")
    expect(page).to_have_title(re.compile("Status"))


def test_nothing_is_asked_of_another_host(visit: Visit):
    hosts: set[str] = set()
    visit.page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    page = visit.search("ferns")
    for name in ("Map", "Collections", "Status"):
        page.get_by_role("navigation", name="Views").get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    assert hosts == {visit.site.origin.removeprefix("http://")}


def test_the_status_has_its_plots(visit: Visit):
    page = visit.search("ferns")
    page.get_by_role("link", name="Status").click()
    for title in (
        "Documents by type",
        "Documents by the month they changed",
        "Growth of the index",
        "How fast the server answers",
    ):
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.locator(".bar-list").first).to_contain_text("Markdown")
    expect(page.locator("figure", has_text="How fast").locator(".bar-list")).to_contain_text("search")
    page.locator("figure", has_text="by type").get_by_text("As a table").click()
    expect(page.get_by_role("rowheader", name="PDF")).to_be_visible()


def test_the_facets_fold_on_a_phone(phone: Visit):
    page = phone.search("ferns")
    expect(page.get_by_role("checkbox", name="plants")).to_be_hidden()
    page.get_by_text("Filters").click()
    page.get_by_role("checkbox", name="plants").check()
    assert "in=plants" in page.url
