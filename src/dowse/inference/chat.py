"""Asks a chat model behind OpenAI's `/chat/completions`, and reads its answer without trusting it.

What documents say goes into a message of its own, as JSON: nothing in a passage can end its string and become an
instruction of ours. A model may still be talked into something by what it reads; so an answer is read only as a
number or as search terms, never acted upon, and a passage can at most spoil the judgement of itself.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from dowse.errors import ModelError
from dowse.inference.endpoint import Patience, RefusedError, Service
from dowse.records import record

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_SHOWN = 120


@record
class Reply:
    """What a chat model said, without its thoughts, and how sure it was of its first token."""

    text: str
    first: tuple[tuple[str, float], ...] = ()
    """The likeliest first tokens with their log-probabilities; empty where the service does not tell."""

    @property
    def shown(self) -> str:
        """The reply as a message may show it."""
        short = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "…"
        return repr(short)


class Chat:
    """One chat model at a service."""

    def __init__(self, service: Service, model: str) -> None:
        self._service = service
        self._model = model

    @property
    def name(self) -> str:
        """The model and where it is."""
        return f"{self._service.name} {self._model}".rstrip()

    def ask(
        self,
        system: str,
        data: Mapping[str, str],
        patience: Patience,
        *,
        max_tokens: int,
        more: Mapping[str, object] | None = None,
    ) -> Reply:
        """The model's reply to our instructions and this data; `more` are further members of the question."""
        body: dict[str, object] = {
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": json.dumps(_cleaned(data), ensure_ascii=False)},
            ],
            "temperature": 0,
            "max_tokens": max_tokens,
            "stream": False,
            **(more or {}),
        }
        if self._model:
            body["model"] = self._model
        return self._read(self._service.ask("/chat/completions", body, patience))

    def ask_leniently(
        self, system: str, data: Mapping[str, str], patience: Patience, *, max_tokens: int, more: Mapping[str, object]
    ) -> Reply:
        """The same, and once more without `more` should the service refuse to know it."""
        try:
            return self.ask(system, data, patience, max_tokens=max_tokens, more=more)
        except RefusedError as refused:
            if refused.status not in {400, 422, 501}:
                raise
        return self.ask(system, data, patience, max_tokens=max_tokens)

    def close(self) -> None:
        """Let go of the service."""
        self._service.close()

    def _read(self, answer: Any) -> Reply:
        try:
            choice = answer["choices"][0]
            text = choice["message"]["content"] or ""
            stripped = _THOUGHTS.sub("", text).strip()
        except (KeyError, IndexError, TypeError) as error:
            raise ModelError(
                f"{self._service.name} did not answer like a chat model.",
                hint="Check that the address is an OpenAI-compatible one; `/chat/completions` is added to it.",
            ) from error
        return Reply(stripped, _first_tokens(choice))


def _first_tokens(choice: Any) -> tuple[tuple[str, float], ...]:
    """Log-probabilities are an extra that services leave out or fill differently: whatever is odd counts as none."""
    try:
        likeliest = choice["logprobs"]["content"][0]["top_logprobs"]
        return tuple((str(entry["token"]), float(entry["logprob"])) for entry in likeliest)
    except (KeyError, IndexError, TypeError, ValueError):
        return ()


def _cleaned(data: Mapping[str, str]) -> dict[str, str]:
    return {name: text.encode("utf-8", "replace").decode() for name, text in data.items()}
