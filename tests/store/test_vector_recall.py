"""The int8 scan with float32 rescoring finds what an exact float32 scan finds."""

import numpy as np
import pytest

from dowse.store.sqlite.vector_files import VectorFiles

DIMS = 384


def clustered(count: int, seed: int) -> "np.ndarray":
    """Unit vectors in groups, as those of real passages are: the hard case, for neighbours are near each other."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(max(1, count // 50), DIMS))
    rows = centres[chance.integers(len(centres), size=count)] + 0.35 * chance.normal(size=(count, DIMS))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("k", [10, 100])
def test_recall_against_exact_float32_is_at_least_0_995(tmp_path, k):
    vectors = clustered(20_000, seed=1)
    files = VectorFiles(tmp_path, 1, DIMS)
    files.write(0, vectors)
    rows = files.open().map(len(vectors))
    found = 0
    queries = clustered(50, seed=2)
    queries[::2] = vectors[:25] + 0.01 * queries[::2]
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    for query in queries:
        exact = set(np.argsort(-(vectors @ query), kind="stable")[:k].tolist())
        found += len(exact & {row for row, _ in rows.nearest(query, k)})
    assert found / (len(queries) * k) >= 0.995


def test_the_cosines_are_those_of_float32(tmp_path):
    vectors = clustered(500, seed=3)
    files = VectorFiles(tmp_path, 1, DIMS)
    files.write(0, vectors)
    for row, cosine in files.open().map(500).nearest(vectors[7], 20):
        assert cosine == pytest.approx(float(vectors[row] @ vectors[7]), abs=1e-6)
