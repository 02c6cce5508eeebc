"""Make src/dowse/inference/granite_scales.json: how int8 copes with matmul inputs that have outlier channels.

    python scripts/calibrate_granite.py

Needs what Dowse itself needs, no network, and some seconds. It runs the fp32 graph over the texts of
granite_calibration.txt (written for this purpose: prose, manuals, code, questions), one by one and in
longer runs, and takes the largest absolute value that each channel of each matmul's input ever has. Where
one exceeds `OUTLIER`, the channels above `KNEE` get the divisor (largest / KNEE) ** STRENGTH; the others
keep 1. Neither time nor chance enters: the same libraries write the same file.

A new file means new vectors: count GRAPH_VERSION in src/dowse/inference/granite.py up with it.
"""

import json
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper
from tokenizers import Tokenizer

from dowse.inference import granite
from dowse.inference.graph import build_graph
from dowse.inference.pack import Pack, granite_path

OUTLIER = 8.0
KNEE = 6.0
STRENGTH = 0.8
RUN = 8
"""How many texts are joined for the longer runs."""

HERE = Path(__file__).parent
TEXTS = HERE / "granite_calibration.txt"
SCALES = HERE.parent / "src" / "dowse" / "inference" / "granite_scales.json"


def calibration_texts() -> list[str]:
    """The paragraphs of the text file, and joined runs of them for what long texts do."""
    paragraphs = TEXTS.read_text("utf-8").strip().split("\n\n")
    runs = ["\n\n".join(paragraphs[start : start + RUN]) for start in range(0, len(paragraphs), RUN)]
    return [*paragraphs, *runs]


def matmul_inputs(model: ModelProto) -> dict[str, str]:
    """For each linear layer of the fp32 graph: which value it multiplies with its weight."""
    products = (node for node in model.graph.node if node.op_type == "MatMul")
    return {node.input[1].removesuffix(".w").partition("[")[0]: node.input[0] for node in products}


def largest_values(model: ModelProto, inputs: dict[str, str], pack: Pack) -> dict[str, NDArray[np.float32]]:
    """The largest absolute value of every channel of every matmul's input over all texts."""
    watched = sorted(set(inputs.values()))
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in watched)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_buffer(pack.tokenizer_json())
    tokenizer.enable_truncation(granite.MAX_TOKENS)
    largest: dict[str, NDArray[np.float32]] = {}
    for text in calibration_texts():
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        for name, value in zip(watched, session.run(watched, {session.get_inputs()[0].name: ids}), strict=True):
            peak = np.abs(value).max(axis=(0, 1))
            largest[name] = np.maximum(largest.get(name, peak), peak)
    return {layer: largest[name] for layer, name in inputs.items()}


def divisors(largest: dict[str, NDArray[np.float32]]) -> dict[str, dict[str, float]]:
    """The scales of the layers that need any; attention outputs (`ao`) gained nothing from them."""
    return {
        layer: {
            str(channel): round(float((value / KNEE) ** STRENGTH), 3)
            for channel, value in enumerate(values)
            if value > KNEE
        }
        for layer, values in sorted(largest.items())
        if values.max() > OUTLIER and not layer.endswith(".ao")
    }


def main() -> None:
    """Calibrate and write the file."""
    pack = Pack(granite_path())
    pack.verify(granite.PACK_SHA256)
    model = build_graph(pack, "fp32")
    scales = divisors(largest_values(model, matmul_inputs(model), pack))
    rows = ",\n".join(f'  "{layer}": {json.dumps(row)}' for layer, row in scales.items())
    SCALES.write_text(f"{{\n{rows}\n}}\n", "utf-8")
    print(f"{SCALES.name}: {len(scales)} layers, {sum(map(len, scales.values()))} channels")


if __name__ == "__main__":
    main()
