"""A web server that says exactly what a test tells it to, on a free port of this machine."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

CERTIFICATE = Path(__file__).with_name("docs_example.pem")

Answer = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """One request, with shorter ways to answer it."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        self.server.requests.append(self)
        self.close_connection = True
        self.server.answers[self.path.partition("?")[0]](self)

    def do_CONNECT(self) -> None:
        self.server.requests.append(self)
        self.send_error(403)

    def answer(self, body: bytes = b"", status: int = 200, **headers: str) -> None:
        headers.setdefault("Content-Length", str(len(body)))
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def raw(self, answer: bytes) -> None:
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.answers: dict[str, Answer] = {}
        self.requests: list[Request] = []
        self.released = Event()
        """For answers that wait until the test is over."""

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is what some tests are about."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def page(self, path: str, body: bytes = b"text", status: int = 200, **headers: str) -> str:
        """Serve a body, and say where."""
        self.answers[path] = lambda request: request.answer(body, status, **headers)
        return self.url + path

    def redirect(self, path: str, location: str, status: int = 302) -> str:
        return self.page(path, b"", status, Location=location)


@contextmanager
def serving(*, tls: bool = False) -> Iterator[Server]:
    server = Server()
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
