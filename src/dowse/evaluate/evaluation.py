"""One evaluation, from documents or judgements to figures that are compared with the last ones."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dowse.errors import NotFoundError, UsageError
from dowse.evaluate.asking import DEPTH, Search, ask_in_modes
from dowse.evaluate.history import compared, remembered
from dowse.evaluate.items import KINDS, known_items
from dowse.evaluate.judged import Grades, read_judged
from dowse.evaluate.results import Evaluation, Judged, Kind
from dowse.ports import Snapshot
from dowse.records import record
from dowse.text.analyse import ANALYSER
from dowse.types import DocumentInfo, Event, Mode, Query, now_ms

__all__ = ["KNOWN_ITEMS", "Plan", "evaluate"]

KNOWN_ITEMS = "known items"
_MOST_NAMED = 10


@record
class Plan:
    """What to ask, and how."""

    judged: Path | None = None
    """The user's judged queries; None: make queries from the documents."""
    collections: tuple[str, ...] = ()
    """Empty: those that are searched by default."""
    modes: tuple[Mode, ...] = ()
    """Empty: by words, and where there are vectors by meaning and by both."""
    sample: int = 50
    """How many queries of each kind are made."""
    rerank: bool = False
    expand: bool = False
    remember: bool = True
    """Whether later runs are compared with this one."""


def evaluate(
    snapshot: Snapshot,
    plan: Plan,
    search: Search,
    directory: Path,
    settings: Mapping[str, str],
    on_event: Callable[[Event], None],
) -> Evaluation:
    """Ask what the plan says and compare with the run before.

    Args:
        snapshot: where the queries are made from and judged documents are looked up.
        plan: what to ask, and how.
        search: how a query is answered.
        directory: where the history is kept.
        settings: what is set, by name: a later run tells what of it changed.
        on_event: told about progress.
    """
    if plan.sample < 1:
        raise UsageError(f"A sample of {plan.sample} asks for nothing.", hint="Give 1 or more.")
    collections = plan.collections or tuple(each.name for each in snapshot.collections() if each.included)
    counts = {stats.collection.name: stats for stats in snapshot.stats().collections}
    if not any(counts[name].documents for name in collections if name in counts):
        raise UsageError("There is no document to ask about.", hint="Index some first: dowse collection add PATH")
    items, problems = _items(snapshot, plan, collections, on_event)
    model = snapshot.model()
    modes: Sequence[Mode] = plan.modes or (("lex", "vec", "hybrid") if model else ("lex",))
    notes = (
        [] if model or plan.modes else ["There are no vectors, so words alone were measured. Make them: dowse embed"]
    )
    template = Query(
        "",
        collections=collections,
        limit=DEPTH,
        per_document=1,
        verdict=False,
        plain=plan.judged is None,
        rerank=plan.rerank,
        expand=plan.expand,
        fresh="ignore",
    )
    figures, said = ask_in_modes(
        items, template, modes, search, lambda done, total: on_event(Event("ask", done=done, total=total))
    )
    state = {
        **settings,
        "analyser": ANALYSER,
        "model": f"{model.name} ({model.precision})" if model else "none",
        "reranked": "yes" if plan.rerank else "no",
        "expanded": "yes" if plan.expand else "no",
        "collections": ", ".join(sorted(collections)),
        "documents": str(sum(counts[name].documents for name in collections if name in counts)),
        "passages": str(sum(counts[name].chunks for name in collections if name in counts)),
        "queries": str(len(items)),
    }
    kinds = list(dict.fromkeys(item.kind for item in items))
    counted: dict[Kind, int] = {kind: sum(item.kind == kind for item in items) for kind in kinds}
    name = KNOWN_ITEMS if plan.judged is None else str(plan.judged.resolve())
    found = Evaluation(name, now_ms(), counted, figures, state, tuple(problems), (*snapshot.notes, *notes, *said))
    found = compared(directory, found)
    return remembered(directory, found) if plan.remember else found


def _items(
    snapshot: Snapshot, plan: Plan, collections: Sequence[str], on_event: Callable[[Event], None]
) -> tuple[list[Judged], list[str]]:
    if plan.judged is not None:
        return _resolved(snapshot, read_judged(plan.judged), collections, plan.judged)
    items = known_items(
        snapshot, collections, plan.sample, lambda done, total: on_event(Event("read", done=done, total=total))
    )
    if not items:
        raise UsageError(
            "No query can be made from these documents: they have no headings, sentences or definitions.",
            hint="Give judged queries of your own: dowse eval FILE",
        )
    missing = [kind for kind in KINDS if not any(item.kind == kind for item in items)]
    return items, [f"No {kind}s to ask for were found." for kind in missing]


def _resolved(
    snapshot: Snapshot, judged: Grades, collections: Sequence[str], path: Path
) -> tuple[list[Judged], list[str]]:
    """The judged queries with the documents that their files are, and what is not indexed."""
    items: list[Judged] = []
    problems: dict[str, str] = {}
    unasked = 0
    for text, names in judged.items():
        grades: dict[str, int] = {}
        for name, grade in names.items():
            if grade <= 0:
                continue
            found = [info for info in _named(snapshot, name) if info.collection in collections]
            if len({info.content_hash for info in found}) > 1:
                problems[name] = f"{name} names {len(found)} documents: write collection/path."
            elif found:
                grades |= dict.fromkeys((info.file for info in found), grade)
            else:
                problems[name] = f"{name} is not indexed."
        items += [Judged(text, grades)] if grades else []
        unasked += not grades
    if not items:
        first = next(iter(problems.values()))
        raise NotFoundError(
            f"None of the files that {path} names can be used; the first one: {first}",
            hint="Name files as `dowse ls` shows them, and index them first: dowse update",
        )
    shown = [*problems.values()][:_MOST_NAMED]
    more = [f"{len(problems) - _MOST_NAMED} more files cannot be used."] if len(problems) > _MOST_NAMED else []
    skipped = (
        [f"{unasked} of {len(judged)} queries were not asked: none of their files can be used."] if unasked else []
    )
    return items, [*skipped, *shown, *more]


def _named(snapshot: Snapshot, name: str) -> list[DocumentInfo]:
    """The documents that a judgement means: by collection and path, by path, by its end, by file or address."""
    found = snapshot.find(name, "path")
    if not found:
        ends = snapshot.find(name, "suffix")
        found = [info for info in ends if info.path == name] or ends
    if not found:
        found = snapshot.find(Path(name).as_uri() if Path(name).is_absolute() else name, "uri")
    return found
