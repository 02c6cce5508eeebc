"""Runs encoders: tokenizers and onnxruntime behind small objects. Import it late.

One text per call: no padding, and a vector never depends on its neighbours. A session computes on the
thread that calls it, and onnxruntime releases the interpreter's lock meanwhile, so threads that share
one session use several processors as well as processes do, without copies of the weights.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from dowse.errors import ModelError

# Importing onnxruntime writes an identifier and a log of events below the user's cache folder, unless it is
# told not to before. Nothing here may leave the machine, or prepare to.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
import onnxruntime

if TYPE_CHECKING:
    from dowse.ports import Vector

_LOG_ERRORS_ONLY = 3


class Encoder:
    """Weights and tokenizer in memory, ready to turn texts into unit vectors. Safe to share by threads."""

    def __init__(self, model: Path | bytes, tokenizer_json: bytes, *, max_tokens: int, threads: int) -> None:
        self._tokenizer = Tokenizer.from_buffer(tokenizer_json)
        self._tokenizer.enable_truncation(max_tokens)
        # What a document says is text: `<s>` in HTML is no start of a sequence.
        self._tokenizer.encode_special_tokens = True
        # The graph is fused as it should be; a higher level would bring the slower SkipLayerNormalization back.
        self._session = open_session(model, threads, optimise=False)
        self._input: str = self._session.get_inputs()[0].name
        self._dims: int = self._session.get_outputs()[0].shape[0]

    def vector(self, text: str) -> "Vector":
        """The unit vector of one text, cut where it is too long."""
        ids = np.array([self._tokenizer.encode(text).ids], np.int64)
        try:
            vector: Vector = self._session.run(None, {self._input: ids})[0]
        except Exception as error:  # onnxruntime's exceptions have no common class
            raise ModelError(
                f"The embedding model failed: {error}", hint="Examine the installation: dowse doctor"
            ) from error
        return vector

    def vectors(self, texts: Sequence[str], workers: int) -> "Vector":
        """The vectors of all texts in their order, computed by this thread and `workers - 1` others."""
        rows = np.empty((len(texts), self._dims), np.float32)

        def fill(place: int) -> None:
            rows[place] = self.vector(texts[place])

        in_threads(fill, len(texts), workers)
        return rows


def in_threads(do: Callable[[int], None], count: int, workers: int) -> None:
    """Call `do` for every number below `count`, on this thread and `workers - 1` others."""
    pending = deque(range(count))

    def drain() -> None:
        try:
            while True:
                try:
                    place = pending.popleft()
                except IndexError:
                    return
                do(place)
        finally:
            pending.clear()  # a failure or Ctrl-C here ends the other workers after their present text

    others = min(workers, count) - 1
    if others < 1:
        drain()
        return
    with ThreadPoolExecutor(others, thread_name_prefix="dowse-embed") as pool:
        running = [pool.submit(drain) for _ in range(others)]
        drain()
    for worker in running:
        worker.result()


def open_session(model: Path | bytes, threads: int, *, optimise: bool, hint: str = "") -> onnxruntime.InferenceSession:
    """A session on the processor that computes on the thread that calls it."""
    onnxruntime.disable_telemetry_events()  # for versions that do not know the variable above
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimise else levels.ORT_ENABLE_BASIC
    # Every length has its own shapes: an arena would only grow, and patterns never repeat.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = _LOG_ERRORS_ONLY
    source = model if isinstance(model, bytes) else str(model)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common class
        raise ModelError(
            f"onnxruntime {onnxruntime.__version__} cannot load the model: {error}",
            hint=f"{hint}Bring it up to date: pip install --upgrade onnxruntime",
        ) from error
