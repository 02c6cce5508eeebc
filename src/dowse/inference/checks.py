"""Whether configured models work, for the doctor: each is asked a small question and says how it went."""

from contextlib import closing
from pathlib import Path

from dowse.errors import DowseError
from dowse.inference import specs
from dowse.inference.cache import Cache
from dowse.inference.kinds import EMBEDDERS, EXPANDERS, RERANKERS
from dowse.types import Finding

_QUESTION = "How hot should the water for green tea be?"
_ANSWER = "Green tea is brewed with water of 70 to 80 degrees."
_OTHER = "The central bank raised interest rates in March."


def check_embedder(text: str, cache_dir: Path) -> Finding:
    """Embed a question, an answer and something else."""
    try:
        spec = specs.parse(text, "embedder", {kind: row.options for kind, row in EMBEDDERS.items()})
        with closing(EMBEDDERS[spec.kind].make(spec, Cache(cache_dir), None, None)) as embedder:
            question = embedder.embed_query(_QUESTION)
            answer, other = embedder.embed_passages([_ANSWER, _OTHER]) @ question
            identity = embedder.identity
    except DowseError as error:
        return Finding("embedder", ok=False, message=error.message, hint=error.hint)
    told = f"{identity.name}: {identity.dims} dimensions, up to {identity.max_tokens} tokens, {identity.pooling}"
    if answer <= other:
        hint = "Check pooling and prefixes, and that it is a model for searching: ;pooling=… ;query=… ;passage=…"
        return Finding("embedder", ok=False, message=f"{told}; it finds an unrelated text nearer", hint=hint)
    return Finding("embedder", ok=True, message=told)


def check_reranker(text: str, cache_dir: Path) -> Finding:
    """Score an answer and something else."""
    try:
        spec = specs.parse(text, "reranker", {kind: row.options for kind, row in RERANKERS.items()})
        with closing(RERANKERS[spec.kind].make(spec, Cache(cache_dir), None, None)) as reranker:
            answer, other = reranker.rerank(_QUESTION, [_ANSWER, _OTHER])
            name = reranker.name
    except DowseError as error:
        return Finding("reranker", ok=False, message=error.message, hint=error.hint)
    told = f"{name}: {answer:.2f} for an answer, {other:.2f} for something else"
    hint = "" if answer > other else "It cannot tell them apart: choose another model, or another kind."
    return Finding("reranker", ok=answer > other, message=told, hint=hint)


def check_expander(text: str, _cache_dir: Path) -> Finding:
    """Expand a question."""
    try:
        spec = specs.parse(text, "expander", {kind: row.options for kind, row in EXPANDERS.items()})
        with closing(EXPANDERS[spec.kind].make(spec, None)) as expander:
            found = expander.expand(_QUESTION)
            name = expander.name
    except DowseError as error:
        return Finding("expander", ok=False, message=error.message, hint=error.hint)
    return Finding("expander", ok=True, message=f"{name}: {len(found)} further queries for a question")
