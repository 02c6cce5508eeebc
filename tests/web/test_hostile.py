"""Documents that mean harm stay text: nothing runs, nothing loads, nothing hangs."""

import pytest
from playwright.sync_api import expect

from web.conftest import Visit

OWNED = "() => window.owned"
MARKUP = "() => { try { document.body.innerHTML = '<b>x</b>'; return ''; } catch (error) { return error.name; } }"
INLINE = """() => {
  const made = document.createElement('b');
  try { made.setAttribute('onclick', 'window.owned = 1'); } catch (error) { return error.name; }
  return '';
}"""


@pytest.mark.parametrize("name", ["scripts.md", "drawing.md", "page.html"])
def test_nothing_in_a_document_runs(visit: Visit, name: str):
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    page = visit.open(f"/?doc=hostile/{name}")
    expect(page.locator(".document h1")).to_be_visible()
    text = page.locator(".text")
    expect(text).to_contain_text("emlock")
    assert text.locator("script, iframe, svg, img, object, embed, style, form").count() == 0
    for link in text.locator("a").all():
        assert (
            not (link.get_attribute("href") or "").lower().lstrip().startswith(("javascript", "data", "vbscript", "//"))
        )
        assert not link.evaluate("(a) => /^(javascript|data|vbscript):/i.test(a.protocol)")
    for word in ("click hemlock", "entity", "space", "ref"):
        if text.get_by_text(word, exact=True).count():
            text.get_by_text(word, exact=True).first.click()
    assert page.evaluate(OWNED) is None
    assert all(url.startswith(visit.site.origin) for url in asked)


def test_nothing_in_a_result_runs(visit: Visit):
    page = visit.search("poisoned hemlock text", "/?mode=words")
    assert page.locator(".results script, .results img, .results iframe").count() == 0
    expect(page.locator(".passage", has_text="onerror=window.owned").first).to_be_visible()
    assert page.evaluate(OWNED) is None


def test_marks_without_an_end_and_endless_quotes_are_shown_soon(visit: Visit):
    page = visit.open("/?doc=hostile/stars.md")
    expect(page.locator(".prose")).to_contain_text("nightshade")
    expect(page.locator(".prose")).to_contain_text("deep")


def test_the_browser_refuses_to_make_markup_of_a_string(visit: Visit):
    page = visit.open()
    expect(page.locator(".latest")).to_be_visible()
    assert page.evaluate(MARKUP) == "TypeError"
    assert page.evaluate(INLINE) == "TypeError"
    visit.complaints.clear()  # both refusals are noted


def test_the_token_leaves_the_address_at_once(visit: Visit):
    page = visit.open("/?view=collections")
    expect(page.get_by_role("heading", name="Collections", exact=True)).to_be_visible()
    assert visit.site.token not in page.url
    assert page.evaluate("sessionStorage.getItem('dowse-token')") == visit.site.token
    assert page.evaluate("document.cookie") == ""
