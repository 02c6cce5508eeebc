"""GGUF files of a tiny BERT: a bag of words with one layer that mixes them, and a head that looks for one word.

The format: magic, version, counts, then keys with typed values, then the places of the tensors, then their
bytes, aligned to 32. Strings are length and UTF-8.
"""

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIMS = 32
WORDS = ["tea", "water", "green", "degrees", "rates", "interest", "bank", "below", "paris", "france", "capital", "the"]
LIKED = "paris"
"""The word that the ranking head looks for."""

_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_MEAN, _RANK = 1, 4
_UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY, _INT32 = 4, 6, 7, 8, 9, 5


def write_gguf(path: Path, *, ranks: bool = False) -> Path:
    """Write the embedding model, or the one that ranks."""
    keys, tensors = _keys(ranks), _tensors(ranks)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(_string(name) + value for name, value in keys.items())
    offset = 0
    for name, tensor in tensors.items():
        sides = tensor.shape[::-1]  # the fastest first
        head += _string(name) + struct.pack(f"<I{len(sides)}QIQ", len(sides), *sides, 0, offset)
        offset += _aligned(tensor.nbytes)
    data = b"".join(tensor.tobytes().ljust(_aligned(tensor.nbytes), b"\0") for tensor in tensors.values())
    path.write_bytes(head.ljust(_aligned(len(head)), b"\0") + data)
    return path


def _keys(ranks: bool) -> dict[str, bytes]:
    tokens = [*_SPECIAL, *(f"\u2581{word}" for word in WORDS)]
    return {
        "general.architecture": _text("bert"),
        "general.name": _text("Tiny Words"),
        "bert.block_count": _number(1),
        "bert.context_length": _number(64),
        "bert.embedding_length": _number(DIMS),
        "bert.feed_forward_length": _number(DIMS),
        "bert.attention.head_count": _number(1),
        "bert.attention.layer_norm_epsilon": struct.pack("<If", _FLOAT32, 1e-12),
        "bert.attention.causal": struct.pack("<I?", _BOOL, False),
        "bert.pooling_type": _number(_RANK if ranks else _MEAN),
        "tokenizer.ggml.model": _text("bert"),
        "tokenizer.ggml.token_type_count": _number(2),
        "tokenizer.ggml.tokens": struct.pack("<IIQ", _ARRAY, _STRING, len(tokens)) + b"".join(map(_string, tokens)),
        "tokenizer.ggml.token_type": struct.pack(
            f"<IIQ{len(tokens)}i", _ARRAY, _INT32, len(tokens), *([3] * len(_SPECIAL) + [1] * len(WORDS))
        ),
        "tokenizer.ggml.padding_token_id": _number(0),
        "tokenizer.ggml.unknown_token_id": _number(1),
        "tokenizer.ggml.cls_token_id": _number(2),
        "tokenizer.ggml.bos_token_id": _number(2),
        "tokenizer.ggml.seperator_token_id": _number(3),
        "tokenizer.ggml.eos_token_id": _number(3),
        "tokenizer.ggml.mask_token_id": _number(4),
    }


def _tensors(ranks: bool) -> dict[str, NDArray[np.float32]]:
    random = np.random.default_rng(7)
    words = random.normal(size=(len(_SPECIAL) + len(WORDS), DIMS)).astype(np.float32)
    words[: len(_SPECIAL)] *= 0.01
    zero, one, same = np.zeros(DIMS, np.float32), np.ones(DIMS, np.float32), np.eye(DIMS, dtype=np.float32)
    nothing = np.zeros((DIMS, DIMS), np.float32)
    found = {
        "token_embd.weight": words,
        "token_types.weight": np.zeros((2, DIMS), np.float32),
        "position_embd.weight": np.zeros((64, DIMS), np.float32),
        "token_embd_norm.weight": one,
        "token_embd_norm.bias": zero,
    }
    matrices = {"attn_q": nothing, "attn_k": nothing, "attn_v": same, "attn_output": same}
    matrices |= {"ffn_up": nothing, "ffn_down": nothing}
    for name, matrix in matrices.items():
        found |= {f"blk.0.{name}.weight": matrix, f"blk.0.{name}.bias": zero}
    for name in ("attn_output_norm", "layer_output_norm"):
        found |= {f"blk.0.{name}.weight": one, f"blk.0.{name}.bias": zero}
    if ranks:
        liked = words[len(_SPECIAL) + WORDS.index(LIKED)]
        found |= {
            "cls.weight": same,
            "cls.bias": zero,
            "cls.output.weight": liked[None, :],
            "cls.output.bias": zero[:1],
        }
    return found


def _aligned(size: int) -> int:
    return -(-size // 32) * 32


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _text(text: str) -> bytes:
    return struct.pack("<I", _STRING) + _string(text)


def _number(value: int) -> bytes:
    return struct.pack("<II", _UINT32, value)
