"""The document view: at the cited passage, in the form of its format."""

import re

from playwright.sync_api import expect

from web.conftest import Visit


def in_sight(visit: Visit, selector: str) -> bool:
    top = visit.page.evaluate("(selector) => document.querySelector(selector).getBoundingClientRect().top", selector)
    return bool(0 <= top < visit.page.evaluate("innerHeight"))


def test_a_result_opens_its_document_at_the_cited_passage(visit: Visit):
    page = visit.search("ferns damp soil")
    page.locator(".result-title a").first.click()
    cited = page.locator(".cited-group")
    expect(cited).to_contain_text("Ferns want damp soil")
    expect(cited).not_to_contain_text("A cactus is watered")
    expect(cited.locator("mark").first).to_be_visible()
    expect(cited).to_be_focused()
    assert in_sight(visit, ".cited-group")


def test_markdown_is_rendered(visit: Visit):
    page = visit.open("/?doc=plants/watering.md")
    prose = page.locator(".prose")
    expect(prose.get_by_role("heading", name="Cacti")).to_be_visible()
    expect(prose.get_by_role("cell", name="0.1")).to_have_class("right")
    expect(prose.locator("ol > li").first).to_have_text("Fill the can.")
    expect(prose.get_by_role("checkbox").first).to_be_checked()
    expect(prose.locator("pre code")).to_have_text("litres = 2")
    page.get_by_role("button", name="Source").click()
    expect(page.locator(".line").first).to_have_text("# Watering")


def test_links_lead_to_documents_of_the_collection_and_never_out_of_it(visit: Visit):
    page = visit.open("/?doc=plants/watering.md")
    assert page.get_by_role("link", name="upwards").get_attribute("href") == "/?doc=plants/etc/passwd"
    outside = page.get_by_role("link", name="the garden")
    assert outside.get_attribute("target") == "_blank"
    assert "noreferrer" in (outside.get_attribute("rel") or "")
    page.get_by_role("link", name="the pests").click()
    expect(page.locator("h1")).to_have_text("Aphids")


def test_code_has_its_line_numbers(visit: Visit):
    page = visit.open("/?doc=plants/pump.py&lines=4-8")
    expect(page.locator(".line").nth(3)).to_have_attribute("data-number", "4")
    expect(page.locator(".line.cited").first).to_contain_text("def start_pump")
    assert page.locator(".line.cited").count() == 5


def test_a_pdf_is_shown_page_by_page(visit: Visit):
    page = visit.search("sunflowers turn towards the light")
    first = page.locator(".result").first
    expect(first.locator(".chip").first).to_have_text("page 2")
    first.locator(".result-title a").click()
    expect(page.locator(".page")).to_have_count(3)
    expect(page.get_by_role("region", name="Page 2").locator(".cited-group")).to_contain_text("Sunflowers turn")


def test_a_long_document_opens_around_its_passage(visit: Visit):
    page = visit.open("/?doc=plants/long.txt&lines=5200-5200")
    expect(page.locator(".line.cited")).to_contain_text("Marigold")
    assert in_sight(visit, ".line.cited")
    expect(page.get_by_text(re.compile(r"of 6,000")).first).to_be_visible()
    page.get_by_role("link", name="Earlier lines").first.click()
    expect(page.locator(".line").first).to_have_attribute("data-number", "1700")


def test_the_citation_can_be_copied_and_the_file_opened(visit: Visit):
    page = visit.search("ferns damp soil")
    page.locator(".result-title a").first.click()
    page.get_by_role("button", name="Copy citation").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("dowse://plants/watering.md?")
    page.locator(".document-head .editor-link").click()
    expect(page.locator("#announcer")).to_have_text("The path is in the clipboard")
    assert re.search(r"plants/watering\.md:\d+$", page.evaluate("navigator.clipboard.readText()"))


def test_a_shared_link_cites_too(visit: Visit):
    page = visit.open("/?doc=plants/watering.md&lines=5-8", token=False)
    page.get_by_role("button", name="Copy citation").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert "plants/watering.md" in page.evaluate("navigator.clipboard.readText()")


def test_a_document_that_is_not_there_says_so_with_a_way_back(visit: Visit):
    page = visit.open("/?doc=plants/none.md&q=ferns")
    expect(page.get_by_role("alert")).to_contain_text("none.md")
    page.get_by_role("link", name=re.compile("Results for")).click()
    expect(page.get_by_role("searchbox", name="Search your documents")).to_have_value("ferns")


def test_a_changed_file_is_marked(visit: Visit):
    file = visit.site.folder / "plants" / "pests" / "aphids.md"
    before = file.read_text()
    try:
        file.write_text(before + "\nThey come back in May.\n")
        page = visit.search("ladybirds eat aphids")
        expect(page.locator(".result", has_text="Aphids").first.locator(".chip.warn")).to_have_text("changed since")
        page.locator(".result-title a", has_text="Aphids").first.click()
        expect(page.locator(".document-head .notes")).to_contain_text("changed since it was indexed")
    finally:
        file.write_text(before)


def test_the_outline_leads_through_the_document(visit: Visit):
    page = visit.open("/?doc=plants/watering.md")
    page.get_by_role("navigation", name="In this document").get_by_role("button", name="Cacti").click()
    expect(page.locator("[data-slug=cacti]")).to_be_in_viewport()
