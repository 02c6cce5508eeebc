"""The collections page: add, update, remove, with the work as it happens and what could not be read."""

import re

from playwright.sync_api import expect

from web.conftest import Visit
from workbench import write


def test_a_folder_is_added_updated_and_removed_with_its_progress_in_sight(visit: Visit):
    folder = write(visit.site.folder / "added", {f"n{number}.md": f"# N{number}\n\nmarjoram\n" for number in range(30)})
    page = visit.open("/?view=collections")
    page.get_by_role("textbox", name="Folder").fill(str(folder))
    page.get_by_role("button", name="Add and index").click()
    card = page.locator('[data-collection="added"]')
    expect(card).to_contain_text("30 documents")
    work = page.get_by_role("region", name="Work")
    expect(work.locator('[data-state="done"]', has_text="30 added")).to_be_visible()

    write(folder, {"later.md": "# Later\n\nmarjoram again\n"})
    with page.expect_response(re.compile("/events$")) as stream:
        card.get_by_role("button", name="Update").click()
    assert stream.value.headers["content-type"].startswith("text/event-stream")
    assert stream.value.request.headers["authorization"] == f"Bearer {visit.site.token}"
    expect(card).to_contain_text("31 documents")

    card.get_by_role("button", name="Remove").click()
    card.get_by_role("button", name="Keep it").click()
    card.get_by_role("button", name="Remove").click()
    card.get_by_role("button", name="Remove added").click()
    expect(card).to_have_count(0)
    expect(page.get_by_text("The files are where they were")).to_be_visible()
    assert (folder / "later.md").exists()


def test_work_that_ends_takes_back_no_question_and_no_focus(visit: Visit):
    page = visit.open("/?view=collections")
    cards = page.locator("[data-collection]")
    cards.first.get_by_role("button", name="Remove").click()
    keep = cards.first.get_by_role("button", name="Keep it")
    expect(keep).to_be_focused()
    before = cards.first.element_handle()
    page.evaluate("document.getElementById('update-all').click()")
    expect(page.get_by_role("region", name="Work").locator('[data-state="done"]').first).to_be_visible()
    page.wait_for_function("card => !card.isConnected", arg=before)
    expect(keep).to_be_focused()
    keep.click()
    expect(cards.first.get_by_role("button", name="Remove")).to_be_focused()


def test_what_could_not_be_read_is_listed_with_its_reason(visit: Visit):
    page = visit.open("/?view=collections")
    unread = page.locator("#unread")
    expect(unread).to_contain_text("papers/broken.pdf")
    expect(unread.locator("li").first.locator(".soft")).not_to_be_empty()
    page.get_by_label("Which files").select_option("skipped")
    expect(unread).not_to_contain_text("broken.pdf")


def test_a_folder_that_is_not_there_is_refused_in_words(visit: Visit):
    page = visit.open("/?view=collections")
    page.get_by_role("textbox", name="Folder").fill(str(visit.site.folder / "nowhere"))
    page.get_by_role("button", name="Add and index").click()
    expect(page.locator(".notes.bad")).to_contain_text("nowhere")


def test_without_a_token_nothing_can_be_changed_and_the_page_says_how_to_get_one(visit: Visit):
    page = visit.open("/?view=collections", token=False)
    expect(page.get_by_text("#token=…")).to_be_visible()
    expect(page.get_by_role("button", name="Update all")).to_be_disabled()
    expect(page.get_by_role("button", name="Remove").first).to_be_disabled()
