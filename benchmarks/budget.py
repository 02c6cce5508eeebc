"""Does any response exceed its budget? Random queries and budgets over any folder, in every serialization.

    python benchmarks/budget.py FOLDER [--pairs N] [--seed N]

Every pair is a query of words that stand in the folder, a limit, a budget from a few tokens to more than enough
and a serializer; every tenth answer is read on through its cursors. The tokens are those of the default
model, counted by the `tokenizers` library itself and not by the counter that the program packs with. Results go to
benchmarks/results/budget.json.
"""

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tokenizers import Tokenizer

import dowse
from dowse import Config, Engine, Query, UsageError, inference
from dowse.interfaces import wire
from dowse.interfaces.cli import render
from dowse.search.budget import Page, fit, shorter_passage, shorter_snippet
from dowse.search.citations import citation_of
from dowse.text.tokens import TokenCounter

RESULTS = Path(__file__).parent / "results"
LARGEST = 20_000
LONGEST_QUERY = 6
MOST_HITS = 40
MOST_PAGES = 30


@dataclass
class Tally:
    """What happened to all pairs."""

    responses: int = 0
    overruns: int = 0
    miscounted: int = 0
    """Responses whose tokens the program counted otherwise than the library."""
    refused: int = 0
    """Budgets below the least, which the error names."""
    incomplete: int = 0
    """Answers whose pages gave a hit twice, or did not give one."""
    shortened: int = 0
    cpu: float = 0.0
    used: list[float] = field(default_factory=list)
    """The share of its budget that a response used which left something for later."""


def main() -> int:
    """Run all pairs and print a table; 1 where anything exceeded its budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("docs"))
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULTS / "budget.json")
    options = parser.parse_args()
    if not options.folder.is_dir():
        print(f"error: there is no folder {options.folder}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        config = replace(Config.load(), index=str(Path(scratch) / "index"))
        with dowse.open(config=config) as engine:
            engine.add_collection(options.folder.resolve(), name="bench")
            engine.index("bench")
            tally = measure(engine, options.pairs, random.Random(options.seed))  # noqa: S311 - a repeatable choice
    results: dict[str, float | int] = {
        "pairs": options.pairs,
        "responses": tally.responses,
        "overruns": tally.overruns,
        "counted wrongly": tally.miscounted,
        "incomplete answers": tally.incomplete,
        "budgets refused as too small": tally.refused,
        "responses with a shortened hit": tally.shortened,
        "budget used where something was left, %": round(100 * sum(tally.used) / max(1, len(tally.used)), 1),
        "CPU-ms per response": round(1_000 * tally.cpu / max(1, tally.responses), 2),
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(
        json.dumps({"version": dowse.__version__, "folder": options.folder.name} | results, indent=2)
    )
    for name, value in results.items():
        print(f"{name:<42}{value:>12,}")
    return int(bool(tally.overruns or tally.incomplete))


def measure(engine: Engine, pairs: int, chance: random.Random) -> Tally:
    """Ask, pack and count again."""
    tokenizer_json = inference.tokenizer_json(Config.load().embedder)
    assert tokenizer_json is not None  # noqa: S101 - the default model has one
    count = TokenCounter(tokenizer_json).count
    library = Tokenizer.from_buffer(tokenizer_json)
    library.encode_special_tokens = True
    texts = [engine.get(info.file).text for info in engine.documents()]
    vocabulary = sorted({word for text in texts for word in re.findall(r"\w{3,}", text)})
    tally = Tally()
    for number in range(pairs):
        words = " ".join(chance.choices(vocabulary, k=chance.randint(1, LONGEST_QUERY)))
        query = Query(words, "lex", limit=chance.randint(1, MOST_HITS), fresh="ignore")
        max_tokens = int(LARGEST ** chance.random())
        name = chance.choice(sorted(SERIALIZERS))
        ask(engine, query, max_tokens, name, count, library, tally, follow=number % 10 == 0)
    return tally


def ask(
    engine: Engine,
    query: Query,
    max_tokens: int,
    name: str,
    count: Callable[[str], int],
    library: Tokenizer,
    tally: Tally,
    *,
    follow: bool,
) -> None:
    """One pair: its response, and if they are followed, all of its pages."""
    answer = engine.search(query)
    shorten = shorter_passage if name in PASSAGES else shorter_snippet
    given: Counter[tuple[str, int]] = Counter()
    cursor = ""
    for _ in range(MOST_PAGES if follow else 1):
        started = time.process_time()
        try:
            packed = fit(answer, SERIALIZERS[name], count=count, max_tokens=max_tokens, cursor=cursor, shorten=shorten)
        except UsageError:
            tally.refused += 1
            return
        tally.cpu += time.process_time() - started
        tokens = len(library.encode(packed.rendered, add_special_tokens=False).ids)
        tally.responses += 1
        tally.overruns += tokens > max_tokens
        tally.miscounted += tokens != packed.tokens
        tally.shortened += not all(portion.is_whole for portion in packed.items)
        given.update((portion.hit.info.file, portion.hit.ordinal) for portion in packed.items)
        cursor = packed.rest.cursor
        if not cursor:
            wanted = [(hit.info.file, hit.ordinal) for hit in answer.hits]
            tally.incomplete += given != Counter(wanted)
            return
        tally.used.append(tokens / max_tokens)


def passages(page: Page, indent: int | None) -> str:
    """Whole passages with their citations, as for an agent."""
    results = [
        {
            "citation": citation_of(portion.hit).uri,
            "title": portion.hit.info.title,
            "score": round(portion.hit.score, 4),
            "text": portion.passage,
        }
        for portion in page.portions
    ]
    made = {"results": results, "omitted": page.omitted, "cursor": page.cursor, "notes": page.answer.notes}
    return json.dumps(made, ensure_ascii=False, indent=indent)


def as_printed(form: str) -> Callable[[Page], str]:
    """As the command line prints it, and the cursor."""

    def rendered(page: Page) -> str:
        hits: Sequence[dowse.Hit] = [portion.shown for portion in page.portions]
        return f"{render.hits(hits, {}, render.Look(form))}\n{page.cursor}"

    return rendered


PASSAGES = {"passages", "compact passages"}
SERIALIZERS: dict[str, Callable[[Page], str]] = {
    "passages": lambda page: passages(page, 2),
    "compact passages": lambda page: passages(page, None),
    "wire": lambda page: wire.dumps({"hits": [wire.hit(each.shown) for each in page.portions], "cursor": page.cursor}),
    **{form: as_printed(form) for form in render.FORMATS},
}


if __name__ == "__main__":
    sys.exit(main())
