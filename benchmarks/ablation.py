"""What is each part of the ranking worth? nDCG@10 with each one changed or left out, on every judged collection.

    python benchmarks/ablation.py FOLDER... --keep DIR [--queries N]

The ranking as it is comes first, then one line per change. Half of the queries of each set (every other one) were
used to choose weights; the other half, held back, says whether that carries over. Known items are sentences, or
lines of code, taken word for word from the documents: hybrid must find them as well as words alone do. The folders
and `--keep` are those of quality.py. What is stored in the index cannot be switched here; a field is left out by its
boost. Results go to benchmarks/results/ablation.json; `--only` measures some lines of it again.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import dowse
from dowse import Config, Engine, Query
from dowse.ports import Snapshot
from dowse.search import asking, fuse, rank, searching
from dowse.search.reciprocal import RANKS, by_places
from dowse.store.sqlite import lexical
from dowse.text import fields
from dowse.text.analyse import analyse
from dowse.types import Passage, Ref
from quality import RESULTS, collections_in, judgements, metrics, prepare, rows_of, write_files
from remembering import remembering

QUERIES = 500  # of each set at most
SENTENCES = 100  # of each set
LONG_ENOUGH = range(50, 300)  # characters of a sentence
DEFINITION = re.compile(
    r"^\s*(?:(?:export|public|private|static|async|pub|final|abstract)\s+)*"
    r"(?:def|class|fn|func|function|struct|enum|interface|trait|type|module)\s+(\w+)",
    re.MULTILINE,
)

Change = tuple[ModuleType, str, object]


@dataclass(frozen=True)
class Part:
    """One change: other values of some modules, another mode, other options of the query."""

    name: str
    changes: tuple[Change, ...] = ()
    mode: str = "hybrid"
    options: Mapping[str, Any] = field(default_factory=dict)


def reciprocal(
    _snapshot: object, _asked: object, _mode: str, evidence: Mapping[fuse.LegName, fuse.Evidence]
) -> rank.Ranking:
    """The candidates by reciprocal ranks instead of by evidence, as for a store whose scores do not compare."""
    return rank.Ranking(RANKS, evidence, by_places(evidence), fuse.Weights({}))


class Defining(rank._Reading):  # noqa: SLF001 - to be put in its own place
    """Counts, beside neighbours, how many of the question's words are in names that a passage of code defines."""

    def __init__(self, snapshot: Snapshot, asked: asking.Asked) -> None:
        super().__init__(snapshot, asked)
        self._terms = {term for term in asked.words[0].terms if len(term) > 1}

    def look_at(self, refs: Sequence[Ref]) -> None:
        """Read those that were not read yet."""
        fresh = [ref for ref in refs if ref not in self.close]
        super().look_at(fresh)
        for passage in self._snapshot.passages(fresh):
            names = DEFINITION.findall(passage.chunk.text) if self._code[passage.ref] else []
            share = max((len(self._terms.intersection(analyse(name))) for name in names), default=0) / len(self._terms)
            close = self.close[passage.ref]
            self.close[passage.ref] = close._replace(pairs=close.pairs + share)


def with_headings(passage: Passage) -> str:
    """What would be read of a passage if headings counted."""
    return "\n".join((passage.info.title, *passage.chunk.headings, passage.chunk.text))


def all_known(*given: Any) -> tuple[dict[str, float], float]:
    """What words are worth if those that stand nowhere do not count."""
    worth, _ = _WORTH(*given)
    return worth, 1.0


def without_field(name: str) -> Part:
    """The ranking without one field of the word index."""
    boosts = {**fields.BOOSTS, name: 1e-9}
    return Part(f"without the field `{name}`", ((lexical, "BOOSTS", boosts), (fields, "BOOSTS", boosts)))


_WORTH = asking._worth  # noqa: SLF001 - to be put in its own place
_NO_FEATURES: Change = (fuse, "FEATURES", dict.fromkeys(fuse.FEATURES, 0.0))
_NO_CODE: Change = (rank, "is_code", lambda _: False)
_ALL_KNOWN: Change = (asking, "_worth", all_known)
_EARLIER: Change = (fuse, "WEIGHTS", {**fuse.WEIGHTS, "hybrid": {"lex": 0.42, "vec": 0.58}})

AS_IT_IS = Part("as it is")
PARTS = (
    AS_IT_IS,
    Part("words alone", mode="lex"),
    Part("meaning alone", mode="vec"),
    Part("0.42 x words + 0.58 x cosine, nothing else", (_NO_FEATURES, _NO_CODE, _ALL_KNOWN, _EARLIER)),
    Part("reciprocal ranks", ((searching, "rank", reciprocal),)),
    Part("without `window`", ((fuse, "FEATURES", {**fuse.FEATURES, "window": 0.0}),)),
    Part("without `pairs`", ((fuse, "FEATURES", {**fuse.FEATURES, "pairs": 0.0}),)),
    Part("without either", (_NO_FEATURES,)),
    Part("50 passages read instead of 20", ((rank, "_READ", 50),)),
    Part("headings read, too", ((rank, "_said", with_headings),)),
    Part("code weighed like prose", (_NO_CODE,)),
    Part("definitions in code count, too", ((rank, "_Reading", Defining),)),
    Part("unknown words not counted", (_ALL_KNOWN,)),
    Part("no words that begin so", ((asking, "_RARE", 0),)),
    Part("stop words searched for", ((asking, "query_terms", lambda text: list(dict.fromkeys(analyse(text)))),)),
    *(without_field(name) for name in fields.BOOSTS),
    Part("with feedback (`prf`)", options={"expand": True}),
)


def main() -> int:
    """Measure every part on every set and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="where quality.py keeps the indexes")
    parser.add_argument("--queries", type=int, default=QUERIES, help="of each set at most")
    parser.add_argument("--only", action="append", metavar="NAME", help="measure this line alone, keep the others")
    parser.add_argument("--output", type=Path, default=RESULTS / "ablation.json")
    options = parser.parse_args()
    folders = list(collections_in(options.folders))
    if not folders:
        print("error: no judged collection found\nhint: name a folder with corpus.jsonl, queries.jsonl and qrels/")
        return 2
    with remembering():
        sets = {folder.name: Judged(folder, options.keep / folder.name, options.queries) for folder in folders}
        print(f"{'nDCG@10':<46}" + "".join(f"{name[:13]:>14}" for name in sets))
        parts = json.loads(options.output.read_text())["parts"] if options.only else {}
        for part in PARTS:
            if options.only and part.name not in options.only:
                continue
            parts[part.name] = {name: judged.measure(part) for name, judged in sets.items()}
            print_row(part.name, parts[part.name])
        known = {name: judged.known_items() for name, judged in sets.items()}
    print(
        f"{'known items, MRR@10: words / hybrid':<46}"
        + "".join(f"{e['lex']:>8.3f}{e['hybrid']:>6.3f}" for e in known.values())
    )
    options.output.parent.mkdir(parents=True, exist_ok=True)
    in_order = {part.name: parts[part.name] for part in PARTS if part.name in parts}
    report = {"version": dowse.__version__, "parts": in_order, "known items": known}
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


class Judged:
    """One judged collection, indexed."""

    def __init__(self, folder: Path, place: Path, most: int) -> None:
        self._place = place
        self._names = write_files(folder, place / "files")
        self._judged = judgements(folder)
        texts = {row["_id"]: row["text"] for row in rows_of(folder / "queries.jsonl")}
        numbered = list(enumerate(sorted(query for query in self._judged if query in texts)))
        dice = random.Random(3)  # noqa: S311 - a benchmark repeats
        chosen = sorted(dice.sample(numbered, min(most, len(numbered))))
        self._queries = [(query, texts[query], bool(number % 2)) for number, query in chosen]
        with self._engine() as engine:
            prepare(engine, place / "files", embed=True)

    def _engine(self) -> Engine:
        return dowse.open(config=replace(Config.load(), index=str(self._place / "index"), expander="prf"))

    def measure(self, part: Part) -> dict[str, float]:
        """The mean nDCG@10 with one part changed: of all queries, and of those held back."""
        values: list[tuple[float, bool]] = []
        with ExitStack() as stack:
            for module, name, value in part.changes:
                stack.enter_context(patch.object(module, name, value))
            engine = stack.enter_context(self._engine())
            for query, text, is_held_back in self._queries:
                ranking = self._asked(engine, Query(text, mode=part.mode, **part.options))  # type: ignore[arg-type]
                values.append((metrics(ranking, self._judged[query])["ndcg@10"], is_held_back))
        held_back = [value for value, is_held_back in values if is_held_back]
        return {"ndcg@10": mean([value for value, _ in values]), "held back": mean(held_back), "queries": len(values)}

    def known_items(self) -> dict[str, float]:
        """The mean reciprocal rank of the documents that sentences were taken from, by words and by both."""
        with self._engine() as engine:
            files = {path.name: path.read_text(encoding="utf-8") for path in (self._place / "files").iterdir()}
            sentences = sampled(list(files.values()))
            found: dict[str, float] = {"sentences": len(sentences)}
            for mode in ("lex", "hybrid"):
                ranks = []
                for sentence in sentences:
                    query = Query(sentence, mode=mode, plain=True, limit=10, per_document=1, snippets=False)  # type: ignore[arg-type]
                    hits = engine.search(replace(query, fresh="ignore")).hits
                    places = (place for place, hit in enumerate(hits, 1) if sentence in files[hit.info.path])
                    ranks.append(1 / next(places, float("inf")))
                found[mode] = mean(ranks)
        return found

    def _asked(self, engine: Engine, query: Query) -> list[str]:
        asked = replace(query, limit=10, per_document=1, snippets=False, fresh="ignore")
        return [self._names[hit.info.path] for hit in engine.search(asked).hits]


def sampled(texts: Sequence[str]) -> list[str]:
    """Sentences and lines, each as it stands in its document."""
    dice = random.Random(5)  # noqa: S311 - a benchmark repeats
    sentences = []
    for text in dice.sample(texts, len(texts)):
        parts = [part.strip() for part in re.split(r"(?<=[.!?。])\s+|\n", text) if len(part.strip()) in LONG_ENOUGH]
        sentences += [dice.choice(parts)] if parts else []
        if len(sentences) == SENTENCES:
            break
    return sentences


def mean(values: Sequence[float]) -> float:
    """Zero for none."""
    return sum(values) / len(values) if values else 0.0


def print_row(name: str, row: Mapping[str, Mapping[str, float]]) -> None:
    """All queries, and after a slash those held back."""
    print(f"{name:<46}" + "".join(f"{e['ndcg@10']:>8.3f}{e['held back']:>6.3f}" for e in row.values()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
