"""The encoder as an ONNX graph, built from a pack's tensors; imports numpy and onnx, so import it late.

One text per call goes in as token ids of shape (1, length), one unit vector comes out. Measured choices:

- Only the first row (CLS) of the last layer is pooled, so that layer computes keys and values for every
  row and everything else for one.
- `DynamicQuantizeMatMul`, `MultiHeadAttention` and `Gelu` of onnxruntime's own domain; but Add and
  LayerNormalization instead of the fused SkipLayerNormalization, which is slower on CPUs.
- int8 means dynamically quantised inputs and weights with one scale per output channel, limited to
  [-64, 64]: two products of a uint8 and such a weight fit the 16-bit sums of processors without VNNI.
- A few channels with huge activations would spoil the one scale that a matmul's input has. Before
  quantising, such inputs are divided and their weights multiplied by per-channel `scales`
  (`granite_scales.json`, made by scripts/calibrate_granite.py).
- The table of word vectors stays int8 with the pack's own scales: exact, and a quarter of the memory.
"""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from dowse.inference.pack import Pack

Scales: TypeAlias = Mapping[str, Mapping[int, float]]
"""For each matmul with outlier channels (named like `l0.f1`): channel -> divisor; other channels have 1."""

INPUT = "token_ids"
OUTPUT = "vector"

_OPSET = 18
_IR_VERSION = 8
_ORT = "com.microsoft"
_WEIGHT_LIMIT = 64


def granite_scales() -> Scales:
    """The calibrated divisors that ship with Dowse."""
    raw = json.loads(files(__package__).joinpath("granite_scales.json").read_text("utf-8"))
    return {name: {int(channel): value for channel, value in row.items()} for name, row in raw.items()}


def build_graph(pack: Pack, precision: str, scales: Scales | None = None) -> ModelProto:
    """The whole encoder in this precision (`int8` or `fp32`); scales matter to int8 only."""
    graph = _Graph(pack, scales or {}, quantise=precision == "int8")
    x = _embeddings(graph)
    last = pack.arch.layers - 1
    for layer in range(last):
        x = _layer(graph, f"l{layer}", x)
    x = _last_layer(graph, f"l{last}", x)
    flat = graph.add("Reshape", x, graph.constant("flat", np.array([-1], np.int64)))
    graph.add("LpNormalization", flat, axis=-1, p=2, result=OUTPUT)
    body = helper.make_graph(
        graph.nodes,
        "encoder",
        [helper.make_tensor_value_info(INPUT, TensorProto.INT64, [1, "length"])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [pack.arch.hidden])],
        list(graph.constants.values()),
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_ORT, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="dowse")


class _Graph:
    """Nodes and constants so far. Values are known by their names; every method returns such a name."""

    def __init__(self, pack: Pack, scales: Scales, *, quantise: bool) -> None:
        self.pack = pack
        self.scales = scales
        self.quantise = quantise
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def constant(self, name: str, values: NDArray[Any]) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", result: str = "", **attributes: object) -> str:
        name = result or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def split(self, x: str, parts: int) -> list[str]:
        names = [f"Split_{len(self.nodes)}_{part}" for part in range(parts)]
        node = helper.make_node("Split", [x], names, name=names[0], axis=-1, num_outputs=parts)
        self.nodes.append(node)
        return names

    def first_row(self, x: str) -> str:
        zero = self.constant("zero", np.array([0], np.int64))
        one = self.constant("one", np.array([1], np.int64))
        return self.add("Slice", x, zero, one, one)

    def layer_norm(self, name: str, x: str) -> str:
        weight = self.constant(f"{name}.w", self.pack.tensor(f"{name}.w"))
        bias = self.constant(f"{name}.b", self.pack.tensor(f"{name}.b"))
        epsilon = self.pack.arch.layer_norm_eps
        return self.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)

    def linear(self, name: str, x: str, outputs: slice = slice(None)) -> str:
        """`x @ weight.T + bias` of the pack's linear layer, or of some of its outputs."""
        weight = self.pack.tensor(f"{name}.w")[outputs].T
        bias = self.pack.tensor(f"{name}.b")[outputs]
        label = name if outputs == slice(None) else f"{name}[{outputs.start}:{outputs.stop}]"
        if not self.quantise:
            product = self.add("MatMul", x, self.constant(f"{label}.w", weight))
            return self.add("Add", product, self.constant(f"{label}.b", bias))
        if name in self.scales:
            divisors = np.ones(len(weight), np.float32)
            divisors[list(self.scales[name])] = list(self.scales[name].values())
            x = self.add("Mul", x, self.constant(f"{name}.smooth", 1 / divisors))
            weight = weight * divisors[:, None]
        values, steps = _quantise(weight)
        return self.add(
            "DynamicQuantizeMatMul",
            x,
            self.constant(f"{label}.w", values),
            self.constant(f"{label}.steps", steps),
            self.constant(f"{label}.zeros", np.zeros(len(steps), np.int8)),
            self.constant(f"{label}.b", bias),
            domain=_ORT,
        )

    def attention(self, qkv: Sequence[str]) -> str:
        return self.add("MultiHeadAttention", *qkv, domain=_ORT, num_heads=self.pack.arch.heads)


def _embeddings(graph: _Graph) -> str:
    """Word + position + type vectors, normalised; the type is always 0, so it is added beforehand."""
    arch = graph.pack.arch
    values, scales = graph.pack.quantised("word_emb")
    groups = scales.shape[1]
    grouped = values.reshape(len(values), groups, arch.hidden // groups)
    words = graph.add("Gather", graph.constant("word_emb", grouped), INPUT)
    steps = graph.add("Gather", graph.constant("word_emb.steps", scales[:, :, None]), INPUT)
    words = graph.add("Mul", graph.add("Cast", words, to=TensorProto.FLOAT), steps)
    words = graph.add("Reshape", words, graph.constant("rows", np.array([0, 0, arch.hidden], np.int64)))
    table = graph.pack.tensor("pos_emb")[arch.position_offset :] + graph.pack.tensor("type_emb")[0]
    zero = graph.constant("zero", np.array([0], np.int64))
    length = graph.add("Shape", INPUT, start=1, end=2)
    positions = graph.add("Slice", graph.constant("pos_emb", table), zero, length)
    return graph.layer_norm("emb_ln", graph.add("Add", words, positions))


def _layer(graph: _Graph, name: str, x: str) -> str:
    """One encoder layer for all rows."""
    qkv = graph.split(graph.linear(f"{name}.qkv", x), 3)
    return _after_attention(graph, name, x, graph.attention(qkv))


def _last_layer(graph: _Graph, name: str, x: str) -> str:
    """One encoder layer for the first row, which looks at all rows."""
    hidden = graph.pack.arch.hidden
    first = graph.first_row(x)
    query = graph.linear(f"{name}.qkv", first, slice(0, hidden))
    keys_values = graph.split(graph.linear(f"{name}.qkv", x, slice(hidden, 3 * hidden)), 2)
    return _after_attention(graph, name, first, graph.attention([query, *keys_values]))


def _after_attention(graph: _Graph, name: str, x: str, attended: str) -> str:
    x = graph.layer_norm(f"{name}.aln", graph.add("Add", graph.linear(f"{name}.ao", attended), x))
    inner = graph.add("Gelu", graph.linear(f"{name}.f1", x), domain=_ORT)
    return graph.layer_norm(f"{name}.fln", graph.add("Add", graph.linear(f"{name}.f2", inner), x))


def _quantise(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Weights (inputs, outputs) as whole numbers in [-64, 64], and the step of each output."""
    steps = np.abs(weight).max(axis=0) / _WEIGHT_LIMIT
    steps[steps == 0] = 1
    return np.rint(weight / steps).astype(np.int8), steps.astype(np.float32)
