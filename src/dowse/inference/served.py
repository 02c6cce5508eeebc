"""Which model answers behind an address? What can be known of it without asking, and whether it is still the same.

An endpoint tells a name, not its weights. So a fixed sentence is embedded once and its vector remembered: its
length is the model's dimensions, and every process asks for the sentence again before its first text. Vectors that
differ by rounding, hardware or quantisation still point the same way; another model's do not. Then the endpoint
counts as another model from there on, and the index asks to be embedded anew instead of mixing the two. A model
that comes back is recognised. The identity does not depend on the address: a model may move.
"""

from typing import TYPE_CHECKING, Any

from dowse.errors import ModelError
from dowse.records import record
from dowse.types import ModelIdentity

if TYPE_CHECKING:
    from dowse.inference.cache import Cache
    from dowse.inference.prefixes import Prefixes
    from dowse.ports import Vector

PROBE = "The ferry to the island leaves at seven in the morning, unless there is fog."
SAME_MODEL = 0.95
"""Cosine of the probe's vectors above which it is one model; rounding and quantising keep more."""


@record
class Served:
    """A model behind an address, as the configuration describes it."""

    url: str
    model: str
    prefixes: "Prefixes"
    max_tokens: int
    dims: int | None
    """As declared; None: the first vector tells."""

    def identity(self, cache: "Cache") -> ModelIdentity | None:
        """Which vectors it makes; None while nobody has asked it."""
        known = self._known(cache)
        dims = len(known["probes"][known["current"]]) if known else self.dims
        return None if dims is None else self._identity(dims, known["current"] if known else 0)

    def recognise(self, cache: "Cache", vector: "Vector") -> None:
        """Compare the probe's unit vector with what is remembered; ModelError when another model made it."""
        if self.dims is not None and len(vector) != self.dims:
            raise ModelError(
                f"{self.url} makes vectors of {len(vector)} dimensions with {self.model!r}, not of {self.dims}.",
                hint=f"Correct it in the configuration: ;dims={len(vector)}",
            )
        known = self._known(cache) or {"current": 0, "probes": []}
        probes: list[list[float]] = known["probes"]
        found = next((at for at, probe in enumerate(probes) if _cosine(probe, vector) >= SAME_MODEL), len(probes))
        if found == len(probes):
            probes.append([round(float(value), 5) for value in vector])
        if found == known["current"]:
            if len(probes) == 1:
                cache.remember(self._key, known)
            return
        cache.remember(self._key, {"current": found, "probes": probes})
        raise ModelError(
            f"The model {self.model!r} at {self.url} makes other vectors than it did before.",
            hint="Let the service run the former model, or make all vectors anew: dowse embed --force",
        )

    @property
    def _key(self) -> str:
        return f"probe {self.url} {self.model}"

    def _known(self, cache: "Cache") -> Any:
        known = cache.fact(self._key)
        is_usable = self.dims is None or not known or len(known["probes"][known["current"]]) == self.dims
        return known if is_usable else None

    def _identity(self, dims: int, generation: int) -> ModelIdentity:
        return ModelIdentity(
            name=self.model,
            weights=f"served-{generation + 1}",
            dims=dims,
            pooling="served",
            precision="served",
            max_tokens=self.max_tokens,
            query_prefix=self.prefixes.query,
            passage_prefix=self.prefixes.passage,
        )


def _cosine(probe: list[float], vector: "Vector") -> float:
    if len(probe) != len(vector):
        return -1.0
    return sum(a * float(b) for a, b in zip(probe, vector, strict=True))
