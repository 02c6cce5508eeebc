"""The figures of the documentation, from what benchmarks and slow tests have kept."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference_markdown import code, table

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results"

_SCALES = {
    "notes": "Many small Markdown files, without embedding. The steps were run one after the other beside it",
    "tree": "Much text in Markdown files of 40 KB, without embedding",
    "pdf": "One long PDF file, without embedding",
}

_CLUSTER = {
    "quality": "The same judged questions to both",
    "scale": "Made-up passages with vectors, and what a hybrid search asks of a store",
    "cost": "The same, in processor time of all three nodes together and of the process that asks",
    "workers": "Processes that embed with one thread each",
}


def figures_page() -> Iterator[str]:
    """What the benchmarks wrote, as tables."""
    yield "Measured by `make bench` on the collections it was given, and kept in `benchmarks/results/`. The machine had"
    yield "two shared cores: compare the figures of one table with each other, not with those of another machine."
    yield ""
    yield "## Quality"
    yield ""
    yield "nDCG@10, recall@100, MRR@10 and hit@3 over the judged queries, per mode (`benchmarks/quality.py`)."
    yield ""
    metrics = ("ndcg@10", "recall@100", "mrr@10", "hit@3")
    yield from table(
        ["collection", "queries", "mode", *metrics],
        [
            (name, round(means["queries"]), mode, *(f"{means[metric]:.4f}" for metric in metrics))
            for name, modes in _results("quality")["sets"].items()
            for mode, means in modes.items()
        ],
    )
    yield from _ablation_figures()
    yield from _verdict_figures()
    yield from _chunking_figures()
    yield "## Speed"
    yield ""
    speed = _results("speed")
    yield f"Over the folder `{speed.pop('folder')}` (`benchmarks/speed.py`)."
    yield ""
    speed.pop("version")
    yield from table(
        ["what", "figure"],
        [(what, f"{value:.3f}" if isinstance(value, float) else value) for what, value in speed.items()],
    )
    yield from _page_figures()
    yield from _load_figures()
    yield from _latency_figures()
    yield from _scale_figures()
    yield from _cluster_figures()
    yield from _serving_figures()
    yield "## Clients that share a process"
    yield ""
    yield "What one further client of an index costs beside a daemon, and what one without costs"
    yield "(`benchmarks/daemon.py`)."
    yield ""
    shared = _results("daemon")
    shared.pop("version")
    yield from table(["what", "figure"], list(shared.items()))


def _ablation_figures() -> Iterator[str]:
    """What each part of the ranking brings."""
    found = _results("ablation")
    sets = list(found["known items"])
    yield "## Parts of the ranking"
    yield ""
    yield "nDCG@10 of the ranking as it is, and with one part changed or left out; after the slash that of the queries"
    yield "which were held back when weights were chosen (`benchmarks/ablation.py`)."
    yield ""
    yield from table(
        ["ranking", *sets],
        [
            (part, *(f"{row[name]['ndcg@10']:.3f} / {row[name]['held back']:.3f}" for name in sets))
            for part, row in found["parts"].items()
        ],
    )
    yield "Sentences and lines taken word for word from the documents: the mean reciprocal rank (MRR@10) of where they"
    yield "come from."
    yield ""
    yield from table(
        ["mode", *sets],
        [(mode, *(f"{found['known items'][name][mode]:.3f}" for name in sets)) for mode in ("lex", "hybrid")],
    )


def _verdict_figures() -> Iterator[str]:
    """How often the verdict on an answer is wrong."""
    found = _results("calibration")
    yield "## What scores and verdicts are worth"
    yield ""
    yield "Each collection was asked its own queries and those of the others, as they are and as two words, and for"
    yield "gibberish: how well the confidence tells the two apart (AUC), how often the verdict on a foreign query was"
    yield "`found` (false accepts) and on an own one `absent` (false rejects), and how often each was rightly given."
    yield "The second table has samples of so many documents. Every other query of each collection is held back: the"
    yield "curves were fitted to the others, and these are the figures of those held back (`benchmarks/calibrate.py`)."
    yield ""
    columns = ("queries", "auc", "false accepts", "false rejects", "found", "absent")
    for part, first in (("verdicts", ("mode", "kind")), ("small", ("documents", "mode", "kind"))):
        yield from table(
            [*first, *columns],
            [
                (
                    *(row[column] for column in first),
                    *(f"{cell:.3f}" if isinstance(cell := row.get(column, ""), float) else cell for column in columns),
                )
                for row in found[part]
            ],
        )
    yield "The score is a logistic of the evidence, with this slope and middle:"
    yield ""
    yield from table(
        ["mode", "slope", "middle"],
        [(mode, f"{row['slope']:.1f}", f"{row['middle']:.3f}") for mode, row in found["fit"].items()],
    )
    yield "The confidence is one of the best evidence, neighbours and the logarithm of the number of words:"
    yield ""
    parts = ("fused", "pairs", "words", "offset")
    yield from table(
        ["mode", *parts],
        [
            (mode, *(f"{row[part]:.1f}" if part in row else "" for part in parts))
            for mode, row in found["fit of verdicts"].items()
        ],
    )


def _latency_figures() -> Iterator[str]:
    """What a warm search costs at a large number of passages."""
    found = _results("latency")
    yield "## Searching many passages"
    yield ""
    yield f"CPU-milliseconds of a warm search among {found['passages']:,} passages without the query's embedding:"
    yield "of each query the middle one of five rounds after the first (median and 95th percentile over the queries),"
    yield "and of that finding candidates, fusing and reading them, verdict, snippets (`benchmarks/latency.py`)."
    yield "Beside it what the model takes, on average, to choose the lines of hits that have no word of the question:"
    yield "with random vectors, as here, there are many such."
    yield ""
    columns = {
        "all": "all",
        "95 %": "95 %",
        "recall": "recall",
        "rank": "rank",
        "judge": "verdict",
        "_hits": "snippets",
        "lines by meaning": "lines by meaning",
    }
    yield from table(
        ["mode", *columns.values()],
        [(mode, *(f"{spent[column]:.2f}" for column in columns)) for mode, spent in found["modes"].items()],
    )


def _chunking_figures() -> Iterator[str]:
    """How much of the answers is read, by the way that documents are cut."""
    found = _results("chunking")
    yield "## Passages"
    yield ""
    yield f"The share of the characters that answer {found['questions']} questions, among the first so many tokens of"
    yield "the passages in the order of their rank; beside it the same engine over windows that are cut without"
    yield "looking, and over the same passages with a description of each document. Once the last passage is cut where"
    yield "the budget ends, once only whole passages count (`benchmarks/chunking.py`)."
    yield ""
    kinds = {"share": "cut", "share in whole passages": "whole"}
    yield from table(
        ["way", "passages", "last passage", *(f"{budget:,} tokens" for budget in found["budgets"])],
        [
            (name, way["passages"], last, *(f"{share:.4f}" for share in way[kind].values()))
            for name, way in found["ways"].items()
            for kind, last in kinds.items()
        ],
    )
    yield "Of passages among the first five that hold part of the answer, how much of it the lines show which a hit"
    yield f"is shown by ({found['questions with snippets']} of the questions), by what chooses them:"
    yield ""
    modes = list(found["snippets"]["as it is"])
    yield from table(
        ["lines", *modes],
        [(name, *(f"{shares[mode]:.3f}" for mode in modes)) for name, shares in found["snippets"].items()],
    )


def _page_figures() -> Iterator[str]:
    """How soon the web page shows results."""
    page = _results("page")
    yield "## The web page"
    yield ""
    yield f"Over the folder `{page.pop('folder')}`, in Chromium: from a keystroke to the frame that shows its results"
    yield "(`benchmarks/page.py`)."
    yield ""
    page.pop("version")
    yield from table(
        ["what", "figure"],
        [(what, f"{value:.1f}" if isinstance(value, float) else value) for what, value in page.items()],
    )


def _load_figures() -> Iterator[str]:
    """What HTTP costs, and how it holds under load."""
    load = _results("load")
    yield "## HTTP under load"
    yield ""
    yield "Searches by words over loopback: first a few clients, then many at once, each asking again as soon as it is"
    yield "answered, while the server indexes another folder (`benchmarks/load.py`)."
    yield ""
    load.pop("version")
    yield from table(
        ["what", "figure"],
        [(what, f"{value:.2f}" if isinstance(value, float) else value) for what, value in load.items()],
    )


def _scale_figures() -> Iterator[str]:
    """What large folders cost."""
    found = _results("scale")
    yield "## Large folders"
    yield ""
    yield "Files made of the sentences of the judged collections (`benchmarks/scale.py`). Memory is the most that all"
    yield "processes held at once."
    yield ""
    for part, meaning in _SCALES.items():
        yield f"{meaning}:"
        yield ""
        yield from table(
            ["what", "figure"],
            [(what, f"{value:.3f}" if isinstance(value, float) else value) for what, value in found[part].items()],
        )


def reliability_page(page: str) -> str:
    """The page as it is, with the figures that slow tests kept between its two marks."""
    first, last = "<!-- figures: written by scripts/reference.py -->", "<!-- end of figures -->"
    before, _, rest = page.partition(first)
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((RESULTS / "reliability").glob("*.json"))]
    rows = [
        (
            each["name"],
            ", ".join(f"{number:,} {what}" for what, number in each["numbers"].items()),
            code(each.get("command") or _command_of(each["test"].partition("::")[0], slow=each.get("slow", True))),
        )
        for each in kept
    ]
    thin = _results("daemon")
    said = f"{thin['10 thin clients, MB']} MB for ten, {thin['thin start, CPU-ms']} CPU-ms to start one"
    rows.append(("clients of a daemon", said, code("python benchmarks/daemon.py")))
    lines = table(["what", "figures", "command"], rows)
    return "\n".join([f"{before}{first}", "", *lines, f"{last}{rest.partition(last)[2]}"])


def _command_of(test: str, *, slow: bool) -> str:
    """What runs this file of tests."""
    if test.startswith("tests/cluster/"):
        return f"make test-cluster ARGS={test}"
    return f"pytest {'-m slow ' if slow else ''}{test}"


def _cluster_figures() -> Iterator[str]:
    """A cluster beside the embedded store."""
    found = _results("cluster")
    yield "## A cluster"
    yield ""
    yield "Three nodes that share the processors with everything else, and the embedded store beside them"
    yield "(`benchmarks/cluster.py`)."
    yield ""
    for part, meaning in _CLUSTER.items():
        if part in found:
            yield f"{meaning}:"
            yield ""
            yield from table(["what", "figure"], [(what, f"{value:,.4g}") for what, value in found[part].items()])


def _serving_figures() -> Iterator[str]:
    """What MCP clients wait for."""
    found = _results("serving")
    yield "## MCP on stdio"
    yield ""
    yield f"CPU time of the server, over {found.pop('files'):,} generated Markdown files that were indexed by words:"
    yield "the start until `tools/list` is answered, and calls of the qmd dialect (`benchmarks/serving.py`)."
    yield ""
    found.pop("version")
    yield from table(["what", "figure"], [(what, f"{value:.3f}") for what, value in found.items()])


def _results(name: str) -> dict[str, Any]:
    """What a benchmark wrote."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found
