"""How soon are results on the screen? The web page in a real Chromium, typed into letter by letter.

    python benchmarks/page.py FOLDER [--keep FOLDER] [--output FILE]

Every time is taken in the browser, from the keystroke's event to the first frame that shows its results: the first
answer is the one by words, the refined one follows as soon as the typing rests (the page waits 160 ms for that, which
is part of the time). That is wall time, so it says something only of a machine that has nothing else to do: how many
processes waited for each processor meanwhile stands beside it. `--keep` holds the index between runs. Results go to
benchmarks/results/page.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from browser import ARGUMENTS, MISSING, Server, find, serving  # found there
from playwright.sync_api import CDPSession, Page, sync_playwright

import dowse

RESULTS = Path(__file__).parent / "results"
QUERIES = ("ownership", "borrow checker", "how do I handle errors?", "trait objects", "cargo workspaces", "closures")
ROUNDS = 3
WITHIN = 150  # milliseconds that a keystroke may take

# In the page: when each keystroke was made, and when a frame with its results has been drawn.
RECORDER = """() => {
  const box = document.getElementById("q");
  const list = document.getElementById("results");
  let typed = 0;
  window.seen = [];
  box.addEventListener("input", (event) => { typed = event.timeStamp; }, { capture: true });
  new MutationObserver(() => {
    const { query, stage } = list.dataset;
    const start = typed;
    if (query !== box.value) return;
    requestAnimationFrame(() => {
      const after = new MessageChannel();
      after.port1.onmessage = () => window.seen.push({ query, stage, ms: performance.now() - start });
      after.port2.postMessage(null);
    });
  }).observe(list, { attributes: true, attributeFilter: ["data-stage"] });
}"""
SEEN = "([query, stage]) => window.seen.some((each) => each.query === query && (!stage || each.stage === stage))"


def main() -> int:
    """Type, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("docs"))
    parser.add_argument("--keep", type=Path, help="where the index stays for the next run")
    parser.add_argument("--output", type=Path, default=RESULTS / "page.json")
    options = parser.parse_args()
    program = find()
    if program is None:
        print(MISSING, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        index = (options.keep or Path(scratch)).resolve() / "index"
        environment = {**os.environ, "DOWSE_INDEX": str(index)}
        prepare(index, options.folder.resolve(), environment)
        with serving(environment) as server:
            results = measure(program, server)
    head = {"version": dowse.__version__, "folder": options.folder.resolve().name}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(head | results, indent=2))
    for name, value in results.items():
        print(f"{name:<46}{value:>10.1f}" if isinstance(value, float) else f"{name:<46}{value:>10}")
    return 0


def prepare(index: Path, folder: Path, environment: dict[str, str]) -> None:
    """Index the folder, or bring what was kept up to date."""
    step = ["update"] if index.exists() else ["collection", "add", str(folder), "--name", folder.name]
    subprocess.run([sys.executable, "-m", "dowse", *step, "--quiet"], env=environment, check=True)


def measure(program: str, server: Server) -> dict[str, float | int]:
    """Every figure, by name."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(server.origin)
        page.locator(".latest li").first.wait_for()
        page.evaluate(RECORDER)
        ask(page, "warm")
        watch = page.context.new_cdp_session(page)
        watch.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = (cpu_of_server(server.pid), cpu_of_page(watch))
        seen = [each for _ in range(ROUNDS) for query in QUERIES for each in ask(page, query)]
        after = (cpu_of_server(server.pid), cpu_of_page(watch))
        browser.close()
    spent = [1_000 * (end - start) / sum(map(len, QUERIES)) / ROUNDS for start, end in zip(before, after, strict=True)]
    first = [each["ms"] for each in seen if each["stage"] == "first"]
    refined = [each["ms"] for each in seen if each["stage"] == "last"]
    return {
        "keystrokes": len(first),
        f"shown within {WITHIN} ms, %": 100 * sum(ms <= WITHIN for ms in first) / len(first),
        **spread("keystroke to results by words", first),
        **spread("keystroke to refined results", refined),
        "CPU of the server per keystroke, ms": spent[0],
        "CPU of the page per keystroke, ms": spent[1],
        "processes per processor meanwhile": os.getloadavg()[0] / (os.cpu_count() or 1),
    }


def cpu_of_server(pid: int) -> float:
    """CPU seconds of a process so far (from /proc, so on Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_page(watch: CDPSession) -> float:
    """CPU seconds of the page's main thread so far."""
    metrics = watch.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def ask(page: Page, query: str) -> list[dict[str, Any]]:
    """Type a question letter by letter, each as soon as the results of the one before are on the screen."""
    page.locator("#q").fill("")
    page.evaluate("window.seen = []")
    for end, letter in enumerate(query, 1):
        page.keyboard.type(letter)
        if query[:end].strip():
            page.wait_for_function(SEEN, arg=[query[:end], None])
    page.wait_for_function(SEEN, arg=[query, "last"])
    found: list[dict[str, Any]] = page.evaluate("window.seen")
    return found


def spread(name: str, values: Sequence[float]) -> dict[str, float]:
    """The middle and the end of some times."""
    ordered = sorted(values)
    return {
        f"{name} p50, ms": statistics.median(ordered),
        f"{name} p95, ms": ordered[int(0.95 * (len(ordered) - 1))],
        f"{name} most, ms": ordered[-1],
    }


if __name__ == "__main__":
    sys.exit(main())
