"""The hashed embedder: deterministic, of unit length, and as similar as the words that texts share."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from dowse.inference.hashed import HashedEmbedder

words = st.lists(st.text(st.characters(categories=["Ll"]), min_size=1, max_size=8), min_size=1, max_size=20)


@given(st.lists(st.text(), max_size=5))
def test_every_text_has_a_finite_unit_vector(texts):
    rows = HashedEmbedder().embed_passages(texts)

    assert rows.shape == (len(texts), 256)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


@given(words, st.randoms(use_true_random=False))
def test_order_case_and_punctuation_do_not_matter(bag, random):
    shuffled = random.sample(bag, len(bag))
    embedder = HashedEmbedder()

    first = embedder.embed_query(" ".join(bag))
    second = embedder.embed_query(", ".join(shuffled) + "!")

    np.testing.assert_array_equal(first, second)


@given(st.lists(st.text(), min_size=1, max_size=6))
def test_a_text_has_the_same_vector_alone_and_among_others(texts):
    embedder = HashedEmbedder(dims=64)

    for row, text in zip(embedder.embed_passages(texts), texts, strict=True):
        np.testing.assert_array_equal(row, embedder.embed_query(text))


@given(words)
def test_more_shared_words_are_never_less_similar(bag):
    embedder = HashedEmbedder(dims=4096)
    query = embedder.embed_query(" ".join(set(bag)))
    assume(np.count_nonzero(query) == len(set(bag)))
    cosines = [
        float(query @ embedder.embed_query(" ".join(sorted(set(bag))[:shared])))
        for shared in range(1, len(set(bag)) + 1)
    ]

    assert all(later > earlier - 1e-6 for earlier, later in pairwise(cosines))


def test_sharing_words_is_closer_than_sharing_none():
    embedder = HashedEmbedder()
    query, near, far = embedder.embed_passages(["red apple pie", "a pie of red apples", "interest rates rise"])

    assert query @ near > 0.5
    assert query @ far < 0.2


def test_vectors_are_the_same_in_every_process_and_on_every_platform():
    program = (
        "from dowse.inference.hashed import HashedEmbedder as H;"
        "print([int(i) for i in H(dims=256).embed_query('the quick brown fox').nonzero()[0]])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }

    assert outputs == {"[84, 215, 230]"}


def test_its_identity_tells_dimensions_apart():
    assert HashedEmbedder().identity.dims == 256
    assert HashedEmbedder(dims=64).identity != HashedEmbedder().identity
