"""The arithmetic of vectors: an exact int8 scan finds candidates, float32 gives their cosines."""

from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING

import numpy as np
import simsimd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dowse.ports import Vector

_SCAN_ROWS = 1 << 16  # bounds the scores held at once
_INT8_MAX = 127.0


class VectorRows:
    """Rows of the vector files, memory-mapped."""

    def __init__(self, files: Mapping[str, IO[bytes]], rows: int, dims: int) -> None:
        def mapped(kind: str, dtype: str, shape: tuple[int, ...]) -> "NDArray[np.generic]":
            if not rows:
                return np.zeros(shape, dtype)
            return np.memmap(files[kind], dtype=dtype, mode="r", shape=shape)

        self._f32 = mapped("f32", "<f4", (rows, dims))
        self._i8 = mapped("i8", "i1", (rows, dims))
        self._scale = mapped("scale", "<f4", (rows,))

    def __len__(self) -> int:
        return len(self._scale)

    def nearest(
        self, vector: "Vector", count: int, allowed: "NDArray[np.bool_] | None" = None
    ) -> list[tuple[int, float]]:
        """The `count` rows with the highest cosine, best first, among the allowed ones."""
        rows = len(self)
        if not rows or count <= 0:
            return []
        scores = self._scan(vector)
        if allowed is not None:
            scores[~allowed] = -np.inf
        # The int8 scan errs in the third digit: rescoring twice as many finds what it put just below.
        pool = min(rows, 2 * count + 50)
        best = np.argpartition(scores, rows - pool)[rows - pool :] if pool < rows else np.arange(rows)
        best = best[scores[best] > -np.inf]
        exact = self.cosines(vector, best)
        order = np.lexsort((best, -exact))[:count]
        return [(int(best[i]), float(exact[i])) for i in order]

    def cosines(self, vector: "Vector", rows: "NDArray[np.integer]") -> "NDArray[np.float32]":
        """The exact cosines of these rows."""
        return np.asarray(self._f32[rows] @ np.asarray(vector, dtype=np.float32), dtype=np.float32)

    def vectors(self, rows: "NDArray[np.integer]") -> "Vector":
        """These rows themselves."""
        return np.array(self._f32[rows], dtype=np.float32)

    def holds(self, row: int, blob: bytes) -> bool:
        """Whether the files say the same of a row as the database."""
        stored = np.frombuffer(blob, dtype="<f4")[None, :]
        small, scales = quantise(stored)
        return bool(
            np.array_equal(self._f32[row], stored[0])
            and np.array_equal(self._i8[row], small[0])
            and self._scale[row] == scales[0]
        )

    def _scan(self, vector: "Vector") -> "NDArray[np.float32]":
        query, _ = quantise(np.asarray(vector, dtype=np.float32)[None, :])
        scores = np.empty(len(self), dtype=np.float32)
        for first in range(0, len(self), _SCAN_ROWS):
            part = slice(first, min(first + _SCAN_ROWS, len(self)))
            products = np.asarray(simsimd.cdist(query, self._i8[part], metric="dot"))
            scores[part] = products.reshape(-1) * self._scale[part]
        return scores


def quantise(matrix: "Vector") -> tuple["NDArray[np.int8]", "NDArray[np.float32]"]:
    """Each row as int8 with the scale that brings it back."""
    largest = np.abs(matrix).max(axis=1)
    scales = np.where(largest > 0, largest / _INT8_MAX, 1.0).astype("<f4")
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales


def columns_of(vectors: "Vector") -> dict[str, bytes]:
    """What each of the files gets of these vectors."""
    matrix = np.ascontiguousarray(vectors, dtype="<f4")
    small, scales = quantise(matrix)
    return {"f32": matrix.tobytes(), "i8": small.tobytes(), "scale": scales.tobytes()}


def stack(vectors: "Sequence[Vector]") -> "Vector":
    """Vectors as the rows of a matrix, as they are stored."""
    return np.ascontiguousarray(np.stack(vectors), dtype="<f4")


def from_blobs(places: Sequence[int], blobs: Sequence[bytes], dims: int) -> "Vector":
    """Stored vectors at these rows of a matrix, with zeros between them."""
    matrix = np.zeros((places[-1] + 1, dims), dtype="<f4")
    matrix[list(places)] = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), dims)
    return matrix
