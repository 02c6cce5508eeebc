"""Figures: what slow tests measured is printed at the end of the run, and kept where DOWSE_TEST_FIGURES says.

A figure is the name of a promise with its numbers. `make figures` keeps one JSON file for each, and
scripts/reference.py puts them into docs/concepts/reliability.md.
"""

import json
import os
import re
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, core, settings
from hypothesis.vendor import pretty

# The machines that run this are shared: how long something took says nothing about the program.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")

# A shell that runs this in the background has it ignore Ctrl-C, and with it every program that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

Figure = Callable[[str, Mapping[str, object]], None]


@pytest.fixture
def figure(record_property: Callable[[str, object], None], request: pytest.FixtureRequest) -> Figure:
    """Tell what was measured."""

    def tell(name: str, numbers: Mapping[str, object]) -> None:
        test = request.node.nodeid.partition("[")[0]
        is_slow = request.node.get_closest_marker("slow") is not None
        record_property("figure", json.dumps({"name": name, "numbers": numbers, "test": test, "slow": is_slow}))

    return tell


def pytest_collection_finish() -> None:
    """Let failing examples be shown: schemathesis, wherever it is imported, has Hypothesis print none at all."""
    core.RepresentationPrinter = pretty.RepresentationPrinter


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print and keep the figures, those of several tests of one name added up (times: the longest)."""
    found: dict[str, dict[str, object]] = {}
    for report in [*terminalreporter.stats.get("passed", []), *terminalreporter.stats.get("failed", [])]:
        for key, value in getattr(report, "user_properties", []):
            if key == "figure" and report.when == "call":
                made = json.loads(value)
                known = found.setdefault(made["name"], {"test": made["test"], "slow": made["slow"], "numbers": {}})
                known["numbers"] = _added(known["numbers"], made["numbers"])
    folder = os.environ.get("DOWSE_TEST_FIGURES")
    for name, made in found.items():
        terminalreporter.write_line(f"figure: {name}: {json.dumps(made['numbers'])}")
        if folder:
            file = Path(folder) / f"{re.sub(r'[^a-z0-9]+', '-', name)}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"name": name, **made}, indent=1) + "\n", encoding="utf-8")


def _added(before: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    worst = {name: max if name.endswith((" s", "ratio")) else sum for name in more}
    return {name: worst[name]([before[name], value]) if name in before else value for name, value in more.items()}
