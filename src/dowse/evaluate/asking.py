"""Asks queries in every mode and takes the figures and the times."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from dowse.errors import ModelError
from dowse.evaluate.metrics import ndcg, percentile, recall, reciprocal_rank
from dowse.evaluate.results import METRICS, Judged, Kind, Metric, ModeFigures
from dowse.types import Answer, Mode, Query

__all__ = ["DEPTH", "ask_in_modes"]

DEPTH = 10

_FIGURES = (recall, reciprocal_rank, ndcg)
"""In the order of METRICS."""

Search = Callable[[Query], Answer]
OnQuery = Callable[[int, int], None]


def ask_in_modes(
    items: Sequence[Judged], template: Query, modes: Sequence[Mode], search: Search, on_query: OnQuery
) -> tuple[tuple[ModeFigures, ...], tuple[str, ...]]:
    """The figures of each mode that can be asked, and notes on those that cannot.

    A mode whose model fails is left out with a note, unless no mode could answer at all.
    """
    done: list[ModeFigures] = []
    notes: list[str] = []
    for number, mode in enumerate(modes):

        def tell(asked: int, before: int = number * len(items)) -> None:
            on_query(before + asked, len(items) * len(modes))

        try:
            figures, by_words = _ask_all(items, template, mode, search, tell)
        except ModelError as error:
            if mode == modes[-1] and not done:
                raise
            notes.append(f"{mode} was not measured. {error.message} {error.hint}".rstrip())
            continue
        if by_words:
            notes.append(f"{by_words} of {len(items)} {mode} queries were answered by words alone.")
        done.append(figures)
    return tuple(done), tuple(notes)


def _ask_all(
    items: Sequence[Judged], template: Query, mode: Mode, search: Search, tell: Callable[[int], None]
) -> tuple[ModeFigures, int]:
    """The figures of one mode, and how many queries it answered by words alone though it need not."""
    search(replace(template, text=items[0].text, mode=mode))  # what is loaded once is nobody's latency
    scores: dict[str, tuple[float, ...]] = {}
    times: list[float] = []
    by_words = 0
    for number, item in enumerate(items, start=1):
        started = time.perf_counter()
        answer = search(replace(template, text=item.text, mode=mode))
        times.append(1000 * (time.perf_counter() - started))
        by_words += mode != "lex" and answer.mode == "lex"
        ranking = [hit.info.file for hit in answer.hits]
        scores[item.key] = tuple(figure(ranking, item.grades, DEPTH) for figure in _FIGURES)
        tell(number)
    kinds = list(dict.fromkeys(item.kind for item in items))
    by_kind: Mapping[Kind, Mapping[Metric, float]] = {
        kind: _means([scores[item.key] for item in items if item.kind == kind]) for kind in kinds
    }
    p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
    return ModeFigures(mode, len(items), _means(list(scores.values())), p50, p95, by_kind, scores), by_words


def _means(scores: Sequence[Sequence[float]]) -> dict[Metric, float]:
    return {metric: fmean(score[place] for score in scores) for place, metric in enumerate(METRICS)}
