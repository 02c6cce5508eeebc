"""A tiny random encoder with the layout of the real one, and the bytes of a pack that holds it."""

import json
import math
import struct

import numpy as np
from numpy.typing import NDArray

from dowse.inference.pack import MAGIC

GROUP = 8
ARCH = {
    "hidden": 16,
    "layers": 3,
    "heads": 4,
    "intermediate": 32,
    "vocab": 40,
    "max_positions": 26,
    "type_vocab": 2,
    "layer_norm_eps": 1e-12,
    "position_offset": 2,
}
TOKENIZER = b'{"version": "1.0"}'


def random_tensors(seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Weights of a tiny encoder with the layout of the real one; linear weights are [out, in]."""
    random = np.random.default_rng(seed)
    hidden, inner = 16, 32

    def normal(*shape: int, spread: float = 1.0, centre: float = 0.0) -> NDArray[np.float32]:
        return random.normal(centre, spread, shape).astype(np.float32)

    tensors = {
        "word_emb": normal(40, hidden),
        "pos_emb": normal(26, hidden),
        "type_emb": normal(2, hidden),
        "emb_ln.w": normal(hidden, spread=0.1, centre=1),
        "emb_ln.b": normal(hidden, spread=0.1),
    }
    linear = {"qkv": (3 * hidden, hidden), "ao": (hidden, hidden), "f1": (inner, hidden), "f2": (hidden, inner)}
    for layer in range(3):
        for name, (outputs, inputs) in linear.items():
            tensors[f"l{layer}.{name}.w"] = normal(outputs, inputs, spread=1 / math.sqrt(inputs))
            tensors[f"l{layer}.{name}.b"] = normal(outputs, spread=0.1)
        for name in ("aln", "fln"):
            tensors[f"l{layer}.{name}.w"] = normal(hidden, spread=0.1, centre=1)
            tensors[f"l{layer}.{name}.b"] = normal(hidden, spread=0.1)
    return tensors


def encode_tensor(name: str, values: NDArray[np.float32]) -> tuple[dict[str, object], bytes]:
    """One tensor's row of the header, and its bytes: matrices of weights and words as i8, the rest as f32."""
    quantise = name == "word_emb" or (name.startswith("l") and values.ndim == 2)
    if quantise:
        groups = values.reshape(-1, GROUP)
        scales = np.maximum(np.abs(groups).max(axis=1) / 127, 1e-9).astype("<f4")
        raw = np.rint(groups / scales[:, None]).astype(np.int8).tobytes() + scales.tobytes()
    else:
        raw = values.astype("<f4").tobytes()
    row = {
        "name": name,
        "dtype": "i8" if quantise else "f32",
        "shape": list(values.shape),
        "len": len(raw),
        "group": GROUP if quantise else 0,
    }
    return row, raw


def pack_bytes(tensors: dict[str, NDArray[np.float32]]) -> bytes:
    """A complete pack of these tensors."""
    rows, blobs = zip(*(encode_tensor(*item) for item in tensors.items()), strict=True)
    header = {
        "format": 1,
        "meta": {"model": "tiny", "pooling": "cls"},
        "arch": ARCH,
        "tokenizer_len": len(TOKENIZER),
        "tensors": rows,
    }
    head = json.dumps(header).encode()
    return MAGIC + struct.pack("<Q", len(head)) + head + TOKENIZER + b"".join(blobs)
