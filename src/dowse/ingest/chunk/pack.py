"""Which pieces go into one chunk: as few chunks as fit, near-equal in size, with good borders."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import ceil, inf

from dowse.ingest.chunk.pieces import Piece

__all__ = ["pack"]

_TOO_SMALL = 0.25
"""What a chunk below the minimum costs; see the costs of borders in pieces.py."""


def pack(pieces: Sequence[Piece], most: int, least: int) -> list[Sequence[Piece]]:
    """Groups of consecutive pieces, each of at most `most` tokens where every piece is.

    They are the cheapest partition: a group costs the square of its distance from the ideal size, more
    below `least` tokens, and the border before it. One pass of dynamic programming finds it.
    """
    # Pieces i to j have after[j] - before[i] tokens together.
    after = list(accumulate(piece.added for piece in pieces))
    before = [total - piece.tokens for total, piece in zip(after, pieces, strict=True)]
    total = after[-1] - before[0]
    ideal = total / ceil(total / most)
    costs = [piece.cost for piece in pieces]
    costs[0] = 0.0
    best = [0.0]
    origin = [0]
    for last, reached in enumerate(after):
        cheapest, chosen = inf, last
        for first in range(last, -1, -1):
            size = reached - before[first]
            if size > most and first < last:
                break
            cost = best[first] + costs[first] + ((size - ideal) / most) ** 2
            if size < least:
                cost += _TOO_SMALL
            if cost < cheapest:
                cheapest, chosen = cost, first
        best.append(cheapest)
        origin.append(chosen)
    borders = [len(pieces)]
    while borders[-1]:
        borders.append(origin[borders[-1]])
    borders.reverse()
    return [pieces[first:stop] for first, stop in pairwise(borders)]
