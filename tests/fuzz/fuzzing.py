"""Fuzz each target in a process of its own: `python tests/fuzz/fuzzing.py --seconds 60 [TARGET ...]`.

A process is given memory and time; one that dies over an input has found something as well as one that raises. What
was found is saved below `--crashes`, a file for each kind of failure, and replayed by `--replay FILE TARGET`. When it
is mended, the file goes to tests/fuzz/corpus/TARGET, which test_fuzz.py replays from then on. `--tally FILE` adds what
was done to a file like those of `make figures`: scripts/reference.py puts it into docs/concepts/reliability.md.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
if str(_TESTS) not in sys.path:
    sys.path.insert(0, str(_TESTS))

from fuzz.mutating import spoiled  # noqa: E402 - from the folder of the tests
from fuzz.targets import TARGETS, Target  # noqa: E402

CORPUS = Path(__file__).parent / "corpus"
_TALLY = "benchmarks/results/reliability/fuzzing.json"
_MEMORY = 3 << 30
_SECONDS_PER_INPUT = 20.0  # of processor time
_GRACE = 90.0  # by the clock, for a process that does not end by itself


class TooSlowError(Exception):
    """One input takes too long."""


def inputs_of(name: str, target: Target) -> list[bytes]:
    """Sound ones, and those that once were findings."""
    return [*target.seeds(), *(file.read_bytes() for file in sorted((CORPUS / name).glob("*")))]


def failure_of(target: Target, data: bytes) -> str:
    """What kind of failure this input is; empty: none."""
    try:
        target.run(data)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(place.filename).name}:{place.name}"
    return ""


def fuzz(
    name: str, target: Target, *, seed: int, seconds: float, most: int, crashes: Path
) -> tuple[int, dict[str, str]]:
    """Try inputs until the time or their number is over; returns how many, and the findings with their files."""
    chance, seeds = random.Random(seed), inputs_of(name, target)  # noqa: S311 - nothing secret
    found: dict[str, str] = {}
    failure_of(target, seeds[0])  # imports what it takes before the time begins to count
    tried, until = 0, time.monotonic() + seconds
    crashes.mkdir(parents=True, exist_ok=True)
    present = crashes / f"{name}.present"
    while tried < most and time.monotonic() < until:
        data = spoiled(seeds, chance)
        present.write_bytes(data)
        kind = failure_of(target, data)
        tried += 1
        if kind and kind not in found:
            file = crashes / f"{name}-{len(found)}-{seed}"
            file.write_bytes(data)
            found[kind] = str(file)
    present.unlink(missing_ok=True)
    return tried, found


def _child(name: str, seed: int, seconds: float, crashes: Path) -> None:
    import resource

    def too_slow(*_: object) -> None:
        raise TooSlowError

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, too_slow)
    plain = TARGETS[name]

    def within_time(data: bytes) -> None:
        signal.setitimer(signal.ITIMER_PROF, _SECONDS_PER_INPUT)
        try:
            plain.run(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    target = plain._replace(run=within_time)
    sys.stdout.write(
        json.dumps(fuzz(name, target, seed=seed, seconds=seconds, most=sys.maxsize, crashes=crashes)) + "\n"
    )


def _in_children(name: str, seed: int, seconds: float, crashes: Path) -> tuple[int, dict[str, str]]:
    """The same in processes, a new one for each that dies."""
    tried, found = 0, {}
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        command = [sys.executable, __file__, "--child", name, "--seed", str(seed), "--seconds", str(left)]
        child = subprocess.Popen(
            [*command, "--crashes", str(crashes)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            said, _ = child.communicate(timeout=left + _GRACE)
        except subprocess.TimeoutExpired:
            child.kill()
            said, _ = child.communicate()
        if child.returncode == 0:
            more, kinds = json.loads(said.splitlines()[-1])
            tried, found = tried + more, found | kinds
            break
        present, kept = crashes / f"{name}.present", crashes / f"{name}-died-{seed}"
        if present.exists():
            present.replace(kept)
        found[f"the process died with {child.returncode}"] = str(kept)
        seed += 1
    return tried, found


def add_to_tally(file: Path, name: str, seconds: float, tried: int, found: int) -> None:
    """Count one target's run with those before it; the sums are what the documents show."""
    runs = json.loads(file.read_text(encoding="utf-8"))["targets"] if file.exists() else {}
    known = runs.get(name, {"seconds": 0, "executions": 0, "findings": 0})
    more = {"seconds": round(seconds), "executions": tried, "findings": found}
    runs[name] = {what: known[what] + number for what, number in more.items()}
    sums = {what: sum(run[what] for run in runs.values()) for what in more}
    numbers = {"targets": len(runs), "minutes": round(sums.pop("seconds") / 60, 1), **sums}
    made = {
        "name": "fuzzing",
        "command": f"make fuzz TALLY={_TALLY}",
        "numbers": numbers,
        "targets": dict(sorted(runs.items())),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--seed", type=int, default=None, help="default: another one each time")
    parser.add_argument("--crashes", type=Path, default=Path(".dowse/crashes"))
    parser.add_argument("--tally", type=Path, help="add targets, seconds, executions and findings to this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--replay", type=Path, help="run one input, with its traceback")
    given = parser.parse_args(arguments)
    seed = given.seed if given.seed is not None else time.time_ns() % 1_000_000
    if given.child:
        _child(given.child, seed, given.seconds, given.crashes)
        return 0
    if given.replay:
        TARGETS[given.targets[0]].run(given.replay.read_bytes())
        return 0
    total = findings = 0
    for name in given.targets or TARGETS:
        began = time.monotonic()
        tried, found = _in_children(name, seed, given.seconds, given.crashes)
        if given.tally:
            add_to_tally(given.tally, name, time.monotonic() - began, tried, len(found))
        total, findings = total + tried, findings + len(found)
        sys.stdout.write(f"{name:18} {tried:>9,} executions  {len(found)} findings\n")
        for kind, file in found.items():
            sys.stdout.write(f"    {kind}: {file}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{total:,} executions, {findings} findings (seed {seed})\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(_main())
