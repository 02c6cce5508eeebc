"""Folders with tiny ONNX models: every word has a dimension of its own, so shared words make texts similar.

The encoder gives the rows themselves, to be pooled. The cross-encoder multiplies the sum of the question's
rows with that of the passage's, so that its logit grows with the words that both have.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DIMS = 48
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
_TEXT = """how hot should the water for green tea be is brewed with of to degrees central bank raised interest
rates in march what are a fog ferry island query passage : ? . 70 80 one"""
WORDS = [*_SPECIAL, *_TEXT.split()]


def write_encoder(
    folder: Path, *, pooled: bool = False, inputs: tuple[str, ...] = ("input_ids",), **settings: Any
) -> Path:
    """An embedding model; `settings` are the JSON files beside it, `__` for a slash and `_json` for `.json`."""
    table = _table()
    table[2] = np.linspace(-0.05, 0.05, DIMS)  # what [CLS] pools to
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [1, "n", DIMS])]
    if pooled:
        nodes.append(helper.make_node("ReduceMax", ["last_hidden_state", "axes"], ["sentence_embedding"], keepdims=0))
        outputs.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, [1, DIMS]))
    constants = {"table": table, "axes": np.array([1])}
    _write(folder, nodes, outputs, constants, inputs)
    for name, value in settings.items():
        path = folder / (name.removesuffix("_json").replace("__", "/") + ".json")
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value))
    return folder


def write_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """A reranking model with one label, two, or a wrong number of them."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["types", "two"], ["second"]),
        helper.make_node("Sub", ["unit", "second"], ["first"]),
        helper.make_node("Mul", ["rows", "first"], ["rows_a"]),
        helper.make_node("Mul", ["rows", "second"], ["rows_b"]),
        helper.make_node("ReduceSum", ["rows_a", "one"], ["sum_a"], keepdims=0),
        helper.make_node("ReduceSum", ["rows_b", "one"], ["sum_b"], keepdims=0),
        helper.make_node("Mul", ["sum_a", "sum_b"], ["product"]),
        helper.make_node("ReduceSum", ["product", "one"], ["dot"], keepdims=1),
        helper.make_node("Sub", ["dot", "bias"], ["logit"]),
        helper.make_node("MatMul", ["logit", "labels"], ["logits"]),
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, labels])]
    constants = {
        "table": _table(),
        "one": np.array([1]),
        "two": np.array([2]),
        "unit": np.float32(1),
        "bias": np.float32(1.5),
        "labels": np.array([[0.0] * (labels - 1) + [1.0]], np.float32),
    }
    _write(folder, nodes, outputs, constants, ("input_ids", "attention_mask", "token_type_ids"))
    return folder


def _table() -> Any:
    table = np.eye(len(WORDS), DIMS, dtype=np.float32)
    table[:4] = 0  # the special tokens mean nothing
    return table


def _write(
    folder: Path, nodes: list[Any], outputs: list[Any], constants: dict[str, Any], inputs: tuple[str, ...]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [1, "n"]) for name in inputs],
        outputs,
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()))


def _tokenizer() -> dict[str, Any]:
    special = {name: {"id": name, "ids": [WORDS.index(name)], "tokens": [name]} for name in ("[CLS]", "[SEP]")}

    def token(name: str, kind: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": name, "type_id": kind}}

    single = [token("[CLS]", 0), {"Sequence": {"id": "A", "type_id": 0}}, token("[SEP]", 0)]
    pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}, token("[SEP]", 1)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special},
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(WORDS)}, "unk_token": "[UNK]"},
    }
