"""Take the pictures in docs/images: the web page over this project's own documents, in a real Chromium.

    python scripts/screenshots.py [--keep FOLDER]

`--keep` holds the index between runs. Pictures have few colours, so a palette keeps them small.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from browser import ARGUMENTS, MISSING, find, serving
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

PROJECT = Path(__file__).resolve().parent.parent
IMAGES = PROJECT / "docs" / "images"
FOLDERS = {
    "concepts": "docs/concepts",
    "guides": "docs/guides",
    "decisions": "docs/decisions",
    "reference": "docs/reference",
    "search": "src/dowse/search",
    "page": "src/dowse/interfaces/web",
}
QUESTION = "what survives a crash?"
LARGEST = 200_000  # bytes of a picture
COLOURS = 256
DESKTOP = {"width": 1200, "height": 800}
PHONE = {"width": 390, "height": 780}


def search(page: Page, origin: str) -> None:
    """Results with an explanation."""
    page.goto(f"{origin}/?q={QUESTION}")
    page.locator('#results[data-stage="last"]').wait_for(state="attached")
    page.locator(".explain-button").first.click()
    page.mouse.move(0, 0)


def document(page: Page, origin: str) -> None:
    """The first result, at its passage."""
    search(page, origin)
    page.locator(".result-title a").first.click()
    page.locator(".cited-group, .cited").first.wait_for()


def corpus_map(page: Page, origin: str) -> None:
    """The map, with the answers lit up."""
    page.goto(f"{origin}/?view=map&q={QUESTION}")
    page.locator("canvas[data-lit]").wait_for()


def status(page: Page, origin: str) -> None:
    """Counts and plots."""
    page.goto(f"{origin}/?view=status")
    page.locator(".plot").first.wait_for()


# The name of a picture: what it shows, in which colours, how wide.
PICTURES: dict[str, tuple[Callable[[Page, str], None], str, dict[str, int]]] = {
    "search": (search, "light", DESKTOP),
    "document": (document, "light", DESKTOP),
    "map": (corpus_map, "light", DESKTOP),
    "status": (status, "light", DESKTOP),
    "dark": (search, "dark", DESKTOP),
    "phone": (search, "light", PHONE),
}


def main() -> int:
    """Index, serve, look."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="where the index stays for the next run")
    options = parser.parse_args()
    program = find()
    if program is None:
        print(MISSING, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        index = (options.keep or Path(scratch)).resolve() / "index"
        environment = {**os.environ, "DOWSE_INDEX": str(index), "DOWSE_CONFIG": os.devnull, "DOWSE_EDITOR": "vscode"}
        prepare(index, environment)
        with serving(environment) as (origin, *_), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
            take(browser, origin, "search")  # the model is loaded with the first question
            for name in PICTURES:
                take(browser, origin, name)
            browser.close()
    return 0


def prepare(index: Path, environment: dict[str, str]) -> None:
    """Index the folders, or bring what was kept up to date."""
    run = [sys.executable, "-m", "dowse"]
    if index.exists():
        steps = [["update"]]
    else:
        steps = [["collection", "add", path, "--name", name, "--no-embed"] for name, path in FOLDERS.items()]
        steps.append(["embed"])
    for step in steps:
        subprocess.run([*run, *step, "--quiet"], env=environment, check=True, cwd=PROJECT)


def take(browser: Browser, origin: str, name: str) -> None:
    """One picture."""
    show, colours, size = PICTURES[name]
    context = browser.new_context(viewport=size, color_scheme=colours, reduced_motion="reduce")  # type: ignore[arg-type]  # as named
    page = context.new_page()
    show(page, origin)
    page.wait_for_load_state("networkidle")
    taken = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    context.close()
    IMAGES.mkdir(parents=True, exist_ok=True)
    file = IMAGES / f"{name}.png"
    taken.save(file, optimize=True)
    if file.stat().st_size > LARGEST:
        raise RuntimeError(f"{file.name} has {file.stat().st_size} bytes, more than {LARGEST}")
    print(f"{file.relative_to(PROJECT)}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    sys.exit(main())
