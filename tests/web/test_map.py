"""The map: points that can be found, moved, named and opened, with the answers to a question lit up."""

import json
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import expect

from web.conftest import Visit

MARGIN = 0.92  # of the canvas; see drawing/scatter.js


def points_of(visit: Visit) -> list[dict[str, Any]]:
    with urlopen(f"{visit.site.origin}/api/v1/map") as answer:  # noqa: S310  # our own server
        found: list[dict[str, Any]] = json.load(answer)["data"]["points"]
        return found


def spot(visit: Visit, point: dict[str, Any], points: list[dict[str, Any]]) -> tuple[float, float]:
    """Where on the page a point is drawn while everything is in sight: as drawing/scatter.js lays them out."""
    box = visit.page.locator("canvas").bounding_box()
    assert box

    def share(axis: str) -> float:
        low, high = min(each[axis] for each in points), max(each[axis] for each in points)
        return (point[axis] - (low + high) / 2) / (high - low) * MARGIN

    return box["x"] + box["width"] * (0.5 + share("x")), box["y"] + box["height"] * (0.5 - share("y"))


def alone(points: list[dict[str, Any]]) -> dict[str, Any]:
    """The point that is farthest from all others."""

    def room(point: dict[str, Any]) -> float:
        return min(
            (other["x"] - point["x"]) ** 2 + (other["y"] - point["y"]) ** 2 for other in points if other is not point
        )

    return max(points, key=room)


def test_points_are_named_under_the_mouse_and_open_on_a_click(visit: Visit):
    page = visit.open("/?view=map")
    expect(page.locator(".seen li").first).to_be_attached()
    points = points_of(visit)
    point = alone(points)
    place = spot(visit, point, points)
    page.mouse.move(*place)
    expect(page.locator(".tip")).to_contain_text(point["file"])
    page.mouse.click(*place)
    expect(page.locator(".document .path").first).to_contain_text(point["file"])
    expect(page.locator(".cited, .cited-group").first).to_be_visible()
    page.get_by_role("link", name="Search").first.focus()
    page.go_back()
    expect(page.get_by_role("heading", name="Map")).to_be_visible()


def test_collections_have_colours_and_can_be_hidden(visit: Visit):
    page = visit.open("/?view=map")
    summary = page.locator("details summary")
    expect(page.get_by_role("checkbox", name="plants")).to_be_checked()
    expect(summary).to_contain_text("passages")
    before = summary.inner_text()
    colours = page.locator(".legend .dot").evaluate_all("(dots) => dots.map((dot) => dot.style.backgroundColor)")
    assert len(set(colours)) == len(colours) >= 3
    page.get_by_role("checkbox", name="plants").uncheck()
    expect(summary).not_to_have_text(before)


def test_a_question_lights_up_its_answers(visit: Visit):
    page = visit.open("/?view=map")
    page.get_by_label("Light up the passages that answer a question").fill("ladybirds")
    expect(page.locator("canvas[data-lit]")).to_be_visible()
    assert int(page.locator("canvas").get_attribute("data-lit") or 0) >= 1
    page.locator("details summary").click()
    expect(page.locator(".seen a").first).to_have_text("Aphids")
    assert "q=ladybirds" in page.url


def test_the_map_is_zoomed_by_wheel_buttons_and_keys(visit: Visit):
    page = visit.open("/?view=map")
    summary = page.locator("details summary")
    expect(summary).to_contain_text("passages")
    everything = summary.inner_text()
    page.locator("canvas").focus()
    for _ in range(6):
        page.keyboard.press("+")
    expect(summary).not_to_have_text(everything)
    page.keyboard.press("0")
    expect(summary).to_have_text(everything)
    points = points_of(visit)
    x, y = spot(visit, alone(points), points)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -1500)
    expect(summary).not_to_have_text(everything)
    page.get_by_role("button", name="Show all").click()
    expect(summary).to_have_text(everything)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 2000, y, steps=4)
    page.mouse.up()
    expect(summary).not_to_have_text(everything)
