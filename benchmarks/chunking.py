"""Do passages hold the answers? The share of the reference characters that a reader of so many tokens gets to see.

    python benchmarks/chunking.py FOLDER [--keep DIR]

The folder has documents in docs/ and questions in questions_df.csv, each with the exact characters that answer it.
The documents are indexed as they are, each question is asked with the default settings, and the passages are read in
the order of their rank until the budget of tokens (of the embedding model) is used up. Counted is the share of the
question's reference characters among those read, each once, and its mean over the questions: once with the last
passage cut where the budget ends, so that short and long passages compete alike, and once with whole passages only,
those up to the first that does not fit. Beside it stands the same engine over windows of 256 tokens that are cut
without looking, and the same with a description of each document. Of some questions the snippets are measured, too:
of the passages among the first five that hold part of the answer, how much of it the snippet shows (of what would
fit), by the ways to choose its lines. Results go to benchmarks/results/chunking.json.
"""

import argparse
import csv
import json
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import dowse
from dowse import Config, Engine, Query
from dowse.inference import tokenizer_json
from dowse.ingest import intake
from dowse.search import pipeline
from dowse.search.matching import Matcher
from dowse.search.snippet import snippet
from dowse.text.tokens import TokenCounter, TokenIndex
from dowse.types import Chunk, Snippet
from quality import MODES, RESULTS, prepare

BUDGETS = (1_000, 2_000, 5_000)
WINDOW = 256
PASSAGES = 100  # that a question asks for: enough for the largest budget, unless they have fewer than 50 tokens

DESCRIPTIONS = {
    "chatlogs.md": "Conversations between users and an assistant",
    "finance.md": "Financial news and annual reports of companies, figures of markets",
    "pubmed.md": "Biomedical articles on cancer, genes, diseases and clinical studies",
    "state_of_the_union.md": "President Biden's State of the Union address of 2024",
    "wikitexts.md": "Articles of Wikipedia on history, music, sports and animals",
}
SNIPPETS = 4  # every so many-th question is asked for snippets
LENGTH = 300  # characters of a snippet
CHOICES: dict[str, Callable[..., Snippet]] = {
    "as it is": snippet,
    "all words count alike": lambda chunk, matcher, _worth, nearest: snippet(chunk, matcher, None, nearest),
    "by meaning alone": lambda chunk, _matcher, _worth, nearest: snippet(chunk, Matcher([]), None, nearest),
    "the first lines": lambda chunk, _matcher, _worth, _nearest: snippet(chunk, Matcher([])),
}

Span = tuple[int, int]


class Question(NamedTuple):
    """What is asked, of which document, and where in it the answer stands."""

    text: str
    document: str
    references: tuple[Span, ...]


@dataclass(frozen=True)
class Text:
    """A document, and what is needed to count the tokens of any part of it."""

    text: str
    tokens: TokenIndex

    def cut(self, span: Span, tokens: int) -> Span:
        """As much of the beginning of a span as has at most so many tokens."""
        start, end = span
        places = range(start, end + 1)
        return start, places[bisect_right(places, tokens, key=lambda at: self.tokens.count(start, at)) - 1]


def main() -> int:
    """Measure both ways to cut and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", type=Path, help="where to keep the indexes")
    parser.add_argument("--output", type=Path, default=RESULTS / "chunking.json")
    options = parser.parse_args()
    if not (options.folder / "questions_df.csv").is_file():
        print(f"error: there are no questions in {options.folder}\nhint: name a folder with docs/ and questions_df.csv")
        return 2
    questions = questions_of(options.folder)
    counter = TokenCounter(tokenizer_json(Config.load().embedder))
    texts = texts_of(options.folder / "docs", counter)
    results = {}
    for name, cutting in ways(counter).items():
        with tempfile.TemporaryDirectory() as scratch:
            place = options.keep / name.replace(" ", "-") if options.keep else Path(scratch)
            with cutting, dowse.open(config=replace(Config.load(), index=str(place.resolve()))) as engine:
                prepare(engine, options.folder.resolve() / "docs", embed=True)
                results[name] = measure(engine, questions, texts)
                if name == "dowse":
                    snippets = measure_snippets(engine, questions[::SNIPPETS])
                    with descriptions(engine):
                        results["dowse, described"] = measure(engine, questions, texts)
    print_table(results)
    for name, modes in snippets.items():
        print(f"snippets {name:<24}" + "".join(f"{mode:>10} {value:.4f}" for mode, value in modes.items()))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    report = {"version": dowse.__version__, "questions": len(questions), "budgets": BUDGETS, "ways": results}
    report |= {"snippets": snippets, "questions with snippets": len(questions[::SNIPPETS])}
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


def questions_of(folder: Path) -> list[Question]:
    """All questions, in the order of the file."""
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        return [
            Question(
                row["question"],
                f"{row['corpus_id']}.md",
                tuple((each["start_index"], each["end_index"]) for each in json.loads(row["references"])),
            )
            for row in csv.DictReader(file)
        ]


def texts_of(folder: Path, counter: TokenCounter) -> dict[str, Text]:
    """The documents by their names."""
    found = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}
    return {name: Text(text, counter.index(text)) for name, text in found.items()}


def ways(counter: TokenCounter) -> Mapping[str, AbstractContextManager[Any]]:
    """What cuts the documents while they are indexed: the project's own chunker, and windows in its place."""

    def windows(extracted: Any, *_: object) -> tuple[Chunk, ...]:
        return tuple(fixed_windows(extracted.text, counter.index(extracted.text)))

    return {"dowse": nullcontext(), f"fixed {WINDOW}": patch.object(intake, "chunk", windows)}


def fixed_windows(text: str, tokens: TokenIndex, size: int = WINDOW) -> Iterator[Chunk]:
    """Windows of so many tokens, cut wherever that is."""
    whole = Text(text, tokens)
    start, line = 0, 1
    while start < len(text):
        _, end = whole.cut((start, len(text)), size)
        last = line + text.count("\n", start, end)
        yield Chunk(text[start:end], start, end, line, last, tokens.count(start, end))
        start, line = end, last


def measure(engine: Engine, questions: Sequence[Question], texts: Mapping[str, Text]) -> dict[str, Any]:
    """The shares of every budget, over all questions and over those of each document."""
    rows: list[tuple[str, list[float], list[float]]] = []
    for question in questions:
        hits = engine.search(Query(question.text, limit=PASSAGES, snippets=False)).hits
        passages = [(hit.info.path, (hit.chunk.start, hit.chunk.end)) for hit in hits]
        cut, whole = (
            [share_read(question, passages, budget, texts, whole=whole) for budget in BUDGETS]
            for whole in (False, True)
        )
        rows.append((question.document, cut, whole))
    rows.sort(key=lambda row: row[0])
    return {
        "passages": engine.stats().chunks,
        "share": means([cut for _, cut, _ in rows]),
        "share in whole passages": means([whole for _, _, whole in rows]),
        "by document": {
            name: means([cut for _, cut, _ in group]) for name, group in groupby(rows, key=lambda row: row[0])
        },
    }


@contextmanager
def descriptions(engine: Engine) -> Iterator[None]:
    """Let the documents be described, as a user might."""
    name = engine.collections()[0].collection.name
    for path, text in DESCRIPTIONS.items():
        engine.add_context(text, collection=name, prefix=path)
    try:
        yield
    finally:
        for path in DESCRIPTIONS:
            engine.remove_context(collection=name, prefix=path)


def measure_snippets(engine: Engine, questions: Sequence[Question]) -> dict[str, dict[str, float]]:
    """How much of what answers the snippets show, by way to choose their lines and mode."""
    found: dict[str, dict[str, float]] = {}
    for name, choose in CHOICES.items():
        with patch.object(pipeline, "snippet", choose):
            found[name] = {mode: mean_shown(engine, questions, mode) for mode in MODES}
    return found


def mean_shown(engine: Engine, questions: Sequence[Question], mode: str) -> float:
    """The mean share over the passages among the first five hits that hold part of the answer."""
    shares = []
    for question in questions:
        asked = Query(question.text, mode=mode, limit=5, verdict=False, fresh="ignore")  # type: ignore[arg-type]  # a known mode
        for hit in engine.search(asked).hits:
            start, end = hit.snippet.start, hit.snippet.start + len(hit.snippet.text)
            inside = [(max(a, hit.chunk.start), min(b, hit.chunk.end)) for a, b in question.references]
            wanted = sum(max(0, b - a) for a, b in inside)
            if hit.info.path == question.document and wanted:
                seen = sum(max(0, min(b, end) - max(a, start)) for a, b in inside if b > a)
                shares.append(seen / min(wanted, LENGTH))
    return sum(shares) / len(shares)


def share_read(
    question: Question, passages: Iterable[tuple[str, Span]], budget: int, texts: Mapping[str, Text], *, whole: bool
) -> float:
    """The share of the reference characters that lie in the passages, as far as the budget lasts."""
    read: set[int] = set()
    for document, span in passages:
        text = texts[document]
        tokens = text.tokens.count(*span)
        if tokens > budget and whole:
            break
        if document == question.document:
            read.update(range(*(text.cut(span, budget) if tokens > budget else span)))
        budget -= tokens
        if budget <= 0:
            break
    wanted = {at for start, end in question.references for at in range(start, end)}
    return len(wanted & read) / len(wanted)


def means(rows: Sequence[Sequence[float]]) -> dict[str, float]:
    """The mean of each budget's column."""
    columns = zip(*rows, strict=True)
    return {str(budget): sum(column) / len(rows) for budget, column in zip(BUDGETS, columns, strict=True)}


def print_table(results: Mapping[str, Mapping[str, Any]]) -> None:
    """One line per way and document."""
    print(f"{'way':<12}{'document':<24}" + "".join(f"{budget:>8}" for budget in BUDGETS) + f"{'passages':>10}")
    for name, found in results.items():
        print(f"{name:<12}{'all':<24}{shares_line(found['share'])}{found['passages']:>10}")
        print(f"{'':<12}{'all, whole passages':<24}{shares_line(found['share in whole passages'])}")
        for document, shares in found["by document"].items():
            print(f"{'':<12}{document:<24}{shares_line(shares)}")


def shares_line(shares: Mapping[str, float]) -> str:
    """The shares of every budget in columns."""
    return "".join(f"{share:>8.4f}" for share in shares.values())


if __name__ == "__main__":
    sys.exit(main())
