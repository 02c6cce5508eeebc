"""The ceiling on memory: smaller batches below it, and a peak that stays there."""

import os
import sys

import pytest

from dowse import Config
from dowse.engine.parts import Parts
from dowse.errors import ConfigError
from dowse.types import Collection
from workbench import config_for, environment_for, open_at, write

CEILING = 160 << 20


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
    assert characters * 100 <= CEILING / 2
    assert settings.max_file_size == CEILING // 16
    assert settings.limits.memory == CEILING
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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are counted in other units elsewhere")
def test_indexing_and_serving_stay_below_the_ceiling(tmp_path, figure):
    texts = {f"{n}.md": f"# {n}\n\n" + " ".join(f"word{n * m % 9973}" for m in range(9_000)) for n in range(56)}
    write(tmp_path / "notes", texts)
    peaks = {}
    for ceiling in (0, CEILING):
        folder = tmp_path / str(ceiling)
        script = (
            "import dowse, sys\n"
            "with dowse.open() as engine:\n"
            f"    engine.add_collection({str(tmp_path / 'notes')!r}, name='notes')\n"
            "    engine.index('notes'); engine.embed(); engine.search('word17')\n"
        )
        environment = environment_for(folder) | {"DOWSE_MAX_MEMORY": str(ceiling)}
        child = os.posix_spawn(sys.executable, [sys.executable, "-c", script], environment)
        _, status, used = os.wait4(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        peaks[ceiling] = used.ru_maxrss >> 10
    figure("memory ceiling", {"ceiling MB": CEILING >> 20, "peak MB": peaks[CEILING], "without MB": peaks[0]})
    assert peaks[CEILING] <= CEILING >> 20
    assert peaks[0] > peaks[CEILING]
