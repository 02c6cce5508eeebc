"""`eval`: how good are the answers from this index, and did a change make them worse?"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from dowse.evaluate import Comparison, Evaluation, Plan
from dowse.interfaces import wire
from dowse.interfaces.cli import EXIT_WORSE, progress, terminal
from dowse.interfaces.cli.app import Command
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.types import Mode

_HEAD = f"{'mode':<16}{'queries':>8}{'recall@10':>11}{'MRR@10':>8}{'nDCG@10':>9}{'p50 ms':>8}{'p95 ms':>8}"


@click.command("eval", cls=Command, epilog="For example: eval --strict, or: eval my-queries.yaml --mode hybrid")
@click.argument("judged", required=False, type=click.Path(path_type=Path))
@click.option("-c", "--collection", "collections", multiple=True, metavar="NAME", help="Only this one (repeatable).")
@click.option(
    "--mode",
    "modes",
    type=click.Choice(["lex", "vec", "hybrid"]),
    multiple=True,
    help="Only this one (repeatable); without it, every mode that the index can answer.",
)
@click.option(
    "-n",
    "--sample",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="Queries of each kind to make.",
)
@click.option("--rerank", is_flag=True, help="Have the configured reranker read the best passages.")
@click.option("--expand", is_flag=True, help="Ask the configured expander for further searches.")
@click.option("--strict", is_flag=True, help=f"Exit with {EXIT_WORSE} when answers are worse than in the run before.")
@click.option("--no-save", is_flag=True, help="Do not remember this run.")
@json_option
@click.pass_obj
def evaluate(
    session: Session,
    judged: Path | None,
    collections: Sequence[str],
    modes: Sequence[Mode],
    sample: int,
    *,
    rerank: bool,
    expand: bool,
    strict: bool,
    no_save: bool,
    as_json: bool,
) -> None:
    """Measure how good the answers are, and compare with the run before.

    Without JUDGED, queries are made from the documents themselves: headings, sentences, and definitions in code, each
    of which must find the document that it was taken from. JUDGED is a YAML file of query -> files, or a folder with
    queries.jsonl and qrels/test.tsv (BEIR).
    """
    plan = Plan(
        judged,
        tuple(collections),
        tuple(dict.fromkeys(modes)),
        sample,
        rerank=rerank,
        expand=expand,
        remember=not no_save,
    )
    with session.engine() as engine, progress.shown(session) as on_event:
        found = engine.evaluate(plan, on_event=on_event)
    for note in (*found.problems, *found.notes):
        session.say(f"note: {terminal.one_line(note)}")
    terminal.emit(wire.dumps(wire.evaluation(found)) if as_json else "\n".join(_lines(found)))
    for each in found.worse:
        session.say(f"warning: {each.mode} {each.metric} is worse than before: {each.before:.3f} -> {each.now:.3f}")
    if strict and found.worse:
        raise click.exceptions.Exit(EXIT_WORSE)


def _lines(found: Evaluation) -> Iterator[str]:
    kinds = [terminal.counted(number, kind) for kind, number in found.queries.items() if kind != "judged"]
    asked = f"{sum(found.queries.values()):,} queries" + (f": {', '.join(kinds)}" if kinds else "")
    yield terminal.one_line(f"{found.name} ({asked}; {int(found.state['documents']):,} documents)")
    yield _HEAD
    for mode in found.modes:
        figures = [*mode.figures.values()]
        yield f"{mode.mode:<16}{mode.queries:>8,}{_row(figures)}{mode.p50_ms:>8.1f}{mode.p95_ms:>8.1f}"
        for kind, means in mode.by_kind.items() if len(mode.by_kind) > 1 else ():
            yield f"  {f'{kind}s':<14}{found.queries[kind]:>8,}{_row([*means.values()])}"
    if found.compared:
        yield from _since(found.compared)
    else:
        yield "There is no earlier run to compare with."


def _row(figures: Sequence[float]) -> str:
    recall, mrr, ndcg = figures
    return f"{recall:>11.3f}{mrr:>8.3f}{ndcg:>9.3f}"


def _since(compared: Comparison) -> Iterator[str]:
    yield f"Since {wire.iso(compared.since)}, over {compared.common:,} queries of both runs:"
    yield from (f"  changed: {terminal.one_line(change)}" for change in compared.changes)
    moved = [each for each in compared.differences if each.verdict != "same"]
    for each in moved:
        figures = f"{each.before:.3f} -> {each.now:.3f} (noise {each.noise:.3f})"
        yield f"  {each.verdict}: {each.mode} {each.metric} {figures}"
    if not moved and compared.differences:
        yield "  no figure differs by more than chance"
    elif not compared.differences:
        yield "  too few queries in common to compare"
