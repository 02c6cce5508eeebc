"""The cache of converted models: complete files only, made once, made anew when damaged."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from dowse.inference import converted


def test_a_model_is_made_once_and_found_afterwards(tmp_path):
    made: list[int] = []

    def make() -> bytes:
        made.append(1)
        return b"model"

    first = converted.find_or_make(tmp_path / "new" / "folder", "stem", make)
    second = converted.find_or_make(tmp_path / "new" / "folder", "stem", make)

    assert isinstance(first, Path)
    assert first == second
    assert first.read_bytes() == b"model"
    assert len(made) == 1


def test_another_stem_is_another_model(tmp_path):
    old = converted.find_or_make(tmp_path, "model-g1", lambda: b"old")
    new = converted.find_or_make(tmp_path, "model-g11", lambda: b"new")

    assert converted.find(tmp_path, "model-g1") == (old, [])
    assert converted.find(tmp_path, "model-g11") == (new, [])


@pytest.mark.parametrize("damage", [b"", b"mode", b"nodel", b"model and more"])
def test_a_damaged_file_is_replaced(tmp_path, damage):
    path = converted.find_or_make(tmp_path, "stem", lambda: b"model")
    assert isinstance(path, Path)
    path.write_bytes(damage)
    assert converted.find(tmp_path, "stem") == (None, [path])

    again = converted.find_or_make(tmp_path, "stem", lambda: b"model")

    assert again == path
    assert path.read_bytes() == b"model"
    assert list(tmp_path.iterdir()) == [path]


def test_several_at_once_end_with_one_intact_file_and_nothing_else(tmp_path):
    barrier = Barrier(4)

    def make() -> bytes:
        barrier.wait()
        return b"model" * 1000

    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: converted.find_or_make(tmp_path, "stem", make), range(4)))

    assert len(set(paths)) == 1
    assert converted.find(tmp_path, "stem") == (paths[0], [])
    assert list(tmp_path.iterdir()) == [paths[0]]


def test_a_failing_conversion_leaves_nothing(tmp_path):
    def make() -> bytes:
        raise ValueError

    with pytest.raises(ValueError):
        converted.find_or_make(tmp_path, "stem", make)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_when_it_is_old(tmp_path):
    old, young = tmp_path / "stem.a.tmp", tmp_path / "stem.b.tmp"
    old.write_bytes(b"mo")
    os.utime(old, (0, 0))
    young.write_bytes(b"mod")

    path = converted.find_or_make(tmp_path, "stem", lambda: b"model")

    assert sorted(tmp_path.iterdir()) == sorted([path, young])


def test_a_folder_that_takes_no_files_gives_the_bytes(tmp_path):
    (tmp_path / "file").write_bytes(b"")

    assert converted.find_or_make(tmp_path / "file" / "models", "stem", lambda: b"model") == b"model"
