"""Runs the models of ONNX folders: any encoder with its pooling, any cross-encoder. Import it late.

One text or pair per call, as in `runtime`: no padding, and a result never depends on its neighbours.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from dowse.errors import ModelError
from dowse.inference.runtime import in_threads, open_session

if TYPE_CHECKING:
    from tokenizers import Encoding

    from dowse.inference.onnx_folder import OnnxFolder
    from dowse.ports import Vector

_OUTPUTS = ("sentence_embedding", "last_hidden_state", "token_embeddings")
"""The first of these that a graph has; what it pooled itself is right whatever the settings say."""
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_MATRIX = 2
_TWO_LABELS = 2


class _Graph:
    """A session and its tokenizer: from texts to the graph's output."""

    def __init__(self, folder: "OnnxFolder", preferred: Sequence[str]) -> None:
        self._path = folder.graph
        self._tokenizer = _tokenizer(folder.tokenizer, folder.max_tokens)
        self._session = open_session(folder.graph, 1, optimise=True, hint="Copy the model's folder anew. ")
        outputs = {output.name: output for output in self._session.get_outputs()}
        self.output = next((name for name in preferred if name in outputs), next(iter(outputs)))
        self.shape: Sequence[Any] = outputs[self.output].shape
        self._inputs = {each.name: _TYPES.get(each.type, np.int64) for each in self._session.get_inputs()}
        unknown = set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
        if unknown:
            raise ModelError(
                f"The model {folder.graph} wants an input {min(unknown)!r} that is not known.",
                hint="Use a model that reads tokens: input_ids, attention_mask, token_type_ids, position_ids.",
            )

    def run(self, text: str, second: str | None = None) -> "Vector":
        """The output for one text or one pair."""
        encoded = self._tokenizer.encode(text) if second is None else self._tokenizer.encode(text, second)
        feeds = {name: values.astype(self._inputs[name]) for name, values in self._feeds(encoded).items()}
        try:
            (found,) = self._session.run([self.output], feeds)
        except Exception as error:  # onnxruntime's exceptions have no common class
            raise ModelError(f"The model {self._path} failed: {error}", hint="Examine it: dowse doctor") from error
        return np.asarray(found, np.float32)

    def _feeds(self, encoded: "Encoding") -> Mapping[str, Any]:
        rows = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
            "position_ids": range(len(encoded.ids)),
        }
        return {name: np.array([rows[name]]) for name in self._inputs}


class PooledEncoder:
    """Turns texts into unit vectors with an encoder and its pooling. Safe to share by threads."""

    def __init__(self, folder: "OnnxFolder") -> None:
        self._graph = _Graph(folder, _OUTPUTS)
        self._pooling = folder.pooling
        self._path = folder.graph
        if folder.needs_pooled_output and len(self._graph.shape) != _MATRIX:
            raise ModelError(
                f"The model of {folder.graph} has a layer behind its pooling that the ONNX file does not contain.",
                hint="Export it with sentence-transformers, which writes an output named sentence_embedding.",
            )

    def dims(self) -> int:
        """How long its vectors are, by making one."""
        return int(self.vector("one").shape[0])

    def vector(self, text: str) -> "Vector":
        """The unit vector of one text, cut where it is too long."""
        found = self._graph.run(text)[0]
        row = found if found.ndim == 1 else _pool(found, self._pooling)
        length = float(np.linalg.norm(row))
        if row.ndim != 1 or not np.isfinite(length) or length == 0:
            raise ModelError(
                f"The output {self._graph.output!r} of {self._path} is no vector per text.",
                hint="Name a graph of an embedding model: ;file=NAME",
            )
        unit: Vector = row / np.float32(length)
        return unit

    def vectors(self, texts: Sequence[str], dims: int, workers: int) -> "Vector":
        """The vectors of all texts in their order."""
        rows = np.empty((len(texts), dims), np.float32)

        def fill(place: int) -> None:
            rows[place] = self.vector(texts[place])

        in_threads(fill, len(texts), workers)
        return rows


class PairScorer:
    """Scores pairs of a question and a passage with a cross-encoder. Safe to share by threads."""

    def __init__(self, folder: "OnnxFolder") -> None:
        self._graph = _Graph(folder, ("logits",))
        self._path = folder.graph

    def scores(self, query: str, passages: Sequence[str], workers: int) -> list[float]:
        """One probability per passage, in their order."""
        found = [0.0] * len(passages)

        def fill(place: int) -> None:
            found[place] = self._score(query, passages[place])

        in_threads(fill, len(passages), workers)
        return found

    def _score(self, query: str, passage: str) -> float:
        """One label: the sigmoid of its logit. Two: the softmax of the second, which stands for relevant."""
        logits = self._graph.run(query, passage).reshape(-1).astype(np.float64)
        if len(logits) == 1:
            score = 1 / (1 + np.exp(-np.clip(logits[0], -500, 500)))
        elif len(logits) == _TWO_LABELS:
            score = 1 / (1 + np.exp(np.clip(logits[0] - logits[1], -500, 500)))
        else:
            raise ModelError(
                f"The model {self._path} answers a pair with {len(logits)} numbers, not with one or two.",
                hint="Use a cross-encoder, made for sequence classification with one or two labels.",
            )
        if not np.isfinite(score):
            raise ModelError(f"The model {self._path} made a score that is no number.", hint="Copy its folder anew.")
        return float(score)


def _tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception
        raise ModelError(
            f"The tokenizer {path} cannot be read: {error}", hint="Copy the model's folder anew."
        ) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    # What a document says is text: `<s>` in HTML is no start of a sequence.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _pool(tokens: "Vector", pooling: str) -> "Vector":
    """One row from the rows of all tokens."""
    if tokens.ndim != _MATRIX:
        return tokens
    pooled: Vector = {
        "cls": lambda: tokens[0],
        "mean": lambda: tokens.mean(axis=0),
        "last": lambda: tokens[-1],
        "max": lambda: tokens.max(axis=0),
    }[pooling]()
    return pooled
