"""A real HTTP server that speaks the APIs of model services, with hashed words for a model, and can misbehave.

Overlap of words is similarity, so that what comes back has a meaning. `server.next` holds misbehaviours: each
request takes one off the list before anything is answered as it should be.
"""

import json
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from dowse.inference.hashed import HashedEmbedder

DIMS = 48


@dataclass
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class RefusalError(Exception):
    """Answer with this status instead."""

    status: int
    message: str = "no"
    headers: dict[str, str] = field(default_factory=dict)


Misbehaviour = Callable[["Handler"], None]


class ModelServer(ThreadingHTTPServer):
    """Listens on a free port of this machine until it is closed."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.next: list[Misbehaviour] = []
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        self.shift = 0
        """Another one is another model."""
        self.most_words: int | None = None
        """Longer texts are refused."""
        self.logits = False
        self.logprobs = True
        self.says: Callable[[dict[str, str]], str] | None = None
        """What the chat model replies to the data it was given."""
        self.files: dict[str, bytes] = {}
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def close(self) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is no news here."""

    def vector(self, text: str) -> list[float]:
        row = [3 * float(x) for x in HashedEmbedder(DIMS).embed_query(text)]
        return row[self.shift :] + row[: self.shift]

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["model"] != "words":
            raise RefusalError(404, f"model {body['model']!r} not found")
        for text in body["input"]:
            if not text:
                raise RefusalError(400, "input must not be empty")
            if self.most_words is not None and len(text.split()) > self.most_words:
                raise RefusalError(500, f"input ({len(text.split())} tokens) is too large to process")
        data = [{"index": at, "embedding": self.vector(text)} for at, text in enumerate(body["input"])]
        return {"object": "list", "data": data[::-1]}

    def rerank(self, body: dict[str, Any]) -> dict[str, Any]:
        scores = [overlap(body["query"], text) for text in body["documents"]]
        if self.logits:
            scores = [12 * score - 6 for score in scores]
        entries = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        return {"results": sorted(entries, key=lambda entry: -entry["relevance_score"])}

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        data = json.loads(body["messages"][1]["content"])
        if self.says is not None:
            return {"choices": [{"message": {"content": self.says(data)}}]}
        score = overlap(data["question"], data["passage"])
        if "JSON like" in body["messages"][0]["content"]:
            return {"choices": [{"message": {"content": json.dumps({"grade": round(10 * score)})}}]}
        choice: dict[str, Any] = {"message": {"content": "yes" if score > 0.5 else "no"}}
        if self.logprobs and body.get("logprobs"):
            chances = {"Yes": score / 2, " yes": score / 2, "no": 1 - score}
            likeliest = [{"token": word, "logprob": math.log(max(p, 1e-9))} for word, p in chances.items()]
            choice["logprobs"] = {"content": [{"token": "x", "top_logprobs": likeliest}]}
        return {"choices": [choice]}


def overlap(query: str, text: str) -> float:
    """The share of the query's words that the text has, kept off the ends."""
    asked, there = set(query.lower().split()), set(text.lower().replace(".", "").split())
    return 0.05 + 0.9 * len(asked & there) / max(len(asked), 1)


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    @property
    def models(self) -> ModelServer:
        return cast("ModelServer", self.server)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(raw)
        self.models.asked.append(Asked(self.path, dict(self.headers), body))
        if self.models.next:
            self.models.next.pop(0)(self)
            return
        try:
            table = {
                "embeddings": self.models.embeddings,
                "rerank": self.models.rerank,
                "completions": self.models.chat,
            }
            answer = table[self.path.rsplit("/", 1)[-1]](body)
        except RefusalError as refusal:
            error = json.dumps({"error": {"message": refusal.message, "code": refusal.status}})
            self.send(error.encode(), refusal.status, refusal.headers)
        else:
            self.send(json.dumps(answer).encode())

    def send(self, raw: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Silence."""


def failing(status: int, message: str = "no", **headers: str) -> Misbehaviour:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.send(json.dumps({"error": {"message": message}}).encode(), status, named)


def saying(raw: bytes) -> Misbehaviour:
    return lambda handler: handler.send(raw)


def hanging(handler: Handler) -> None:
    """Says nothing until the server closes."""
    handler.models.closing.wait(30)


def dripping(handler: Handler) -> None:
    """Sends a header and then a byte every now and then: no single read ever times out."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.models.closing.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def breaking_off(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": ')
    handler.close_connection = True


def hanging_up(handler: Handler) -> None:
    handler.close_connection = True
