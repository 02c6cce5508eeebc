"""The ONNX graph against an independent forward pass in plain numpy, on a tiny random encoder."""

import math

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from dowse.inference.graph import build_graph, granite_scales
from dowse.inference.pack import Pack
from inference.tiny_pack import random_tensors

Array = NDArray[np.float64]


def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12) * weight + bias


def attention(x: Array, weight: Array, bias: Array, heads: int) -> Array:
    length, hidden = x.shape
    query, key, value = np.split(x @ weight.T + bias, 3, axis=1)
    rows = np.empty((length, hidden))
    for head in range(heads):
        part = slice(head * hidden // heads, (head + 1) * hidden // heads)
        logits = query[:, part] @ key[:, part].T / math.sqrt(hidden // heads)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        rows[:, part] = weights / weights.sum(axis=1, keepdims=True) @ value[:, part]
    return rows


def reference(pack: Pack, ids: list[int]) -> Array:
    """The unit CLS vector after every layer has been computed in full for every row, in float64."""

    def get(name: str) -> Array:
        return pack.tensor(name).astype(np.float64)

    gelu = np.vectorize(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))))
    positions = np.arange(len(ids)) + pack.arch.position_offset
    x = get("word_emb")[ids] + get("pos_emb")[positions] + get("type_emb")[0]
    x = layer_norm(x, get("emb_ln.w"), get("emb_ln.b"))
    for layer in (f"l{number}" for number in range(pack.arch.layers)):
        attended = attention(x, get(f"{layer}.qkv.w"), get(f"{layer}.qkv.b"), pack.arch.heads)
        x = x + attended @ get(f"{layer}.ao.w").T + get(f"{layer}.ao.b")
        x = layer_norm(x, get(f"{layer}.aln.w"), get(f"{layer}.aln.b"))
        inner = gelu(x @ get(f"{layer}.f1.w").T + get(f"{layer}.f1.b"))
        x = x + inner @ get(f"{layer}.f2.w").T + get(f"{layer}.f2.b")
        x = layer_norm(x, get(f"{layer}.fln.w"), get(f"{layer}.fln.b"))
    return np.asarray(x[0] / np.linalg.norm(x[0]))


def run(pack: Pack, precision: str, ids: list[int], scales=None) -> NDArray[np.float32]:
    model = build_graph(pack, precision, scales).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    vector: NDArray[np.float32] = session.run(None, {"token_ids": np.array([ids], np.int64)})[0]
    return vector


@pytest.mark.parametrize("length", [1, 2, 7, 24])
def test_the_fp32_graph_with_its_trimmed_last_layer_gives_the_cls_vector_of_the_full_encoder(write_pack, length):
    pack = Pack(write_pack())
    ids = [int(token) for token in np.random.default_rng(length).integers(0, 40, length)]

    np.testing.assert_allclose(run(pack, "fp32", ids), reference(pack, ids), atol=2e-6)


def test_the_int8_graph_is_close_to_the_full_encoder(write_pack):
    pack = Pack(write_pack())
    ids = [0, 5, 6, 7, 8, 9, 2]

    vector = run(pack, "int8", ids)

    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert vector @ reference(pack, ids) > 0.995


def test_scales_repair_what_an_outlier_channel_spoils_in_int8(write_pack):
    tensors = random_tensors()
    for layer in range(3):
        tensors[f"l{layer}.aln.w"][3] *= 60
        tensors[f"l{layer}.f1.w"][:, 3] /= 60
    pack = Pack(write_pack(tensors))
    ids = [0, 5, 6, 7, 8, 9, 2]
    scales = {f"l{layer}.f1": {3: 60.0} for layer in range(3)}

    exact = reference(pack, ids)
    plain = run(pack, "int8", ids) @ exact
    scaled = run(pack, "int8", ids, scales) @ exact

    assert scaled > plain
    assert 1 - scaled < (1 - plain) / 4


def test_int8_weights_stay_in_the_range_that_processors_without_vnni_can_add(write_pack):
    model = build_graph(Pack(write_pack()), "int8")
    quantised = {node.input[1] for node in model.graph.node if node.op_type == "DynamicQuantizeMatMul"}
    weights = [tensor for tensor in model.graph.initializer if tensor.name in quantised]

    assert len(weights) == 3 * 4 + 1
    for tensor in weights:
        values = np.frombuffer(tensor.raw_data, np.int8)
        assert np.abs(values.astype(int)).max() == 64


def test_a_linear_layer_of_zeros_is_quantised_without_dividing_by_zero(write_pack):
    tensors = random_tensors()
    tensors["l1.ao.w"][:] = 0
    tensors["l1.ao.w"][0] = 1e-3
    pack = Pack(write_pack(tensors))

    assert np.isfinite(run(pack, "int8", [0, 5, 2])).all()


def test_the_shipped_scales_enlarge_channels_of_ten_layers_that_the_model_has():
    scales = granite_scales()

    assert len(scales) == 10
    for name, divisors in scales.items():
        width = {"f1": 384, "f2": 1536}[name.partition(".")[2]]
        assert all(0 <= channel < width for channel in divisors)
        assert all(divisor >= 1 for divisor in divisors.values())
