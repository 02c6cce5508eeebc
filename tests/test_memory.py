"""The ceiling on memory: smaller batches below it, and a peak that stays there."""

import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dowse import Config
from dowse.engine.parts import Parts
from dowse.errors import ConfigError
from dowse.types import Collection
from workbench import config_for, environment_for, facts, open_at, write

CEILING = 136 << 20


def settings_below(tmp_path, ceiling):
    parts = Parts(config_for(tmp_path, max_memory=ceiling), None)
    return parts, parts.index_settings(Collection("notes"))


def test_without_a_ceiling_batches_and_limits_are_the_usual_ones(tmp_path):
    _, settings = settings_below(tmp_path, 0)
    assert settings.batch == (800, 3_200_000)
    assert settings.max_file_size == 20 << 20
    assert settings.limits.memory == 1 << 30


def test_a_ceiling_makes_batches_files_readers_and_workers_smaller(tmp_path):
    parts, settings = settings_below(tmp_path, CEILING)
    documents, characters = settings.batch
    assert 1 <= documents < 800
    assert 0 < characters * 100 <= CEILING / 2
    assert 0 < settings.max_file_size < CEILING // 100
    assert settings.limits.memory < CEILING
    assert parts._workers == 1


@pytest.mark.parametrize("value", ["1MB", "-1", "much", 5])
def test_a_ceiling_below_the_program_itself_is_refused(value):
    with pytest.raises(ConfigError) as caught:
        Config.load(env={}, max_memory=value, data_dir="x", cache_dir="y")
    assert "128MB" in caught.value.hint


def test_documents_are_stored_in_batches_of_the_size_that_the_ceiling_allows(tmp_path, monkeypatch):
    texts = {f"{n}.md": f"# {n}\n\n" + f"word{n} " * 20_000 for n in range(12)}
    with open_at(tmp_path, max_memory=128 << 20) as engine:
        sizes = []
        put = engine._store.put
        monkeypatch.setattr(engine._store, "put", lambda drafts: (sizes.append(len(drafts)), put(drafts)))
        engine.add_collection(write(tmp_path / "notes", texts), name="notes")
        engine.index("notes")
        assert sum(sizes) == 12
        assert max(sizes) <= 6
        assert engine.stats().documents == 12


def test_below_a_ceiling_terms_are_made_as_they_are_written_and_the_index_is_the_same(tmp_path):
    texts = {f"{n}.md": f"# {n}\n\n" + f"word{n} zebra road " * 2_000 for n in range(6)}
    notes = write(tmp_path / "notes", texts)
    found = []
    for ceiling in (0, 128 << 20):
        with open_at(tmp_path / str(ceiling), max_memory=ceiling) as engine:
            engine.add_collection(notes, name="notes")
            engine.index("notes")
            engine.embed()
            found.append(facts(engine, with_scores=False))
    assert found[0]["hits"] == found[1]["hits"]
    assert found[0]["totals"] == found[1]["totals"]


def test_a_file_that_would_not_fit_below_the_ceiling_is_named_and_the_others_are_indexed(tmp_path):
    texts = {"small.md": "# Small\n\nzebra\n", "large.md": "zebra " * 60_000}
    with open_at(tmp_path, max_memory=128 << 20) as engine:
        engine.add_collection(write(tmp_path / "notes", texts), name="notes")
        engine.index("notes")
        assert [each.path for each in engine.documents()] == ["small.md"]
        assert [(each.path, each.code) for each in engine.ledger()] == [("large.md", "too_large")]


INDEXING = """
import dowse
with dowse.open() as engine:
    engine.add_collection({notes!r}, name="notes")
    engine.index("notes")
    assert len(engine.documents()) == {count}
    engine.embed()
"""
SERVING = """
import dowse
from pathlib import Path
from dowse.ingest.sources import given_content
with dowse.open() as engine:
    for file in sorted(Path({notes!r}).iterdir()):
        engine.ingest(given_content(file.read_text(), file.name), collection="given")
        for word in file.read_text().split()[5:500:400]:
            engine.search(dowse.Query(word, limit=100))
    engine.embed()
    assert len(engine.documents()) == {count}
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("script", [INDEXING, SERVING], ids=["indexing", "serving"])
def test_all_processes_together_stay_below_the_ceiling(tmp_path, figure, script, request):
    """Every word is another one: that is what takes the most. Without a ceiling the same goes clearly above it."""
    chance = random.Random(1)  # noqa: S311 - nothing secret
    words = ("w" + format(chance.getrandbits(40), "x") for _ in iter(int, 1))
    texts = {
        f"{n}.md": f"# {n}\n\n" + "\n\n".join(" ".join(next(words) for _ in range(12)) for _ in range(330))
        for n in range(80)
    }
    notes = write(tmp_path / "notes", texts)
    peaks = {}
    for ceiling in (0, CEILING):
        environment = environment_for(tmp_path / str(ceiling)) | {"DOWSE_MAX_MEMORY": str(ceiling)}
        peaks[ceiling] = peak_of(script.format(notes=str(notes), count=len(texts)), environment) >> 20
    what = request.node.callspec.id
    figure(f"memory while {what}", {"ceiling MB": CEILING >> 20, "peak MB": peaks[CEILING], "without MB": peaks[0]})
    assert peaks[CEILING] <= CEILING >> 20
    assert peaks[0] > CEILING >> 20


def peak_of(script, environment):
    """The most that a process and the largest of those that it started ever held, as the system counted it."""
    with subprocess.Popen([sys.executable, "-c", script], env=environment) as process:
        held = {}
        while process.poll() is None:
            for pid in (process.pid, *children_of(process.pid)):
                with suppress(OSError, IndexError, ValueError):
                    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
                    held[pid] = max(held.get(pid, 0), int(status.split("VmHWM:")[1].split()[0]) << 10)
            time.sleep(0.01)
    assert process.returncode == 0
    return held.pop(process.pid) + max(held.values(), default=0)


def children_of(pid):
    with suppress(OSError):
        tasks = list(Path(f"/proc/{pid}/task").glob("*/children"))
        return [int(child) for task in tasks for child in task.read_text(encoding="ascii").split()]
    return []
