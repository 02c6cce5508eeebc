"""The page's files, read once when the server starts and served from memory.

The headers that keep the page safe are those of every response of the server. Every script and style is a file of
its own, because they forbid anything inline; and index.html asks for Trusted Types without any policy, so that the
browser itself refuses to make markup of a string.
"""

import hashlib
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dowse.records import record

__all__ = ["STATIC", "page_routes"]

STATIC = Path(__file__).parent / "static"

_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


@record
class _File:
    body: bytes
    media_type: str
    etag: str


def page_routes() -> list[BaseRoute]:
    """`/` and everything that the page loads, below `/web/`."""
    files = {path.relative_to(STATIC).as_posix(): _read(path) for path in STATIC.rglob("*") if path.is_file()}
    page = files.pop("index.html")

    async def index(request: Request) -> Response:
        return _answer(request, page)

    async def asset(request: Request) -> Response:
        found = files.get(request.path_params["path"])
        if found is None:
            raise HTTPException(404)
        return _answer(request, found)

    return [Route("/", index, methods=["GET"]), Route("/web/{path:path}", asset, methods=["GET"])]


def _read(path: Path) -> _File:
    body = path.read_bytes()
    return _File(body, _MEDIA_TYPES[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:16]}"')


def _answer(request: Request, file: _File) -> Response:
    # Kept by the browser and asked for again each time: a new version shows at once.
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if file.etag in known:
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers, media_type=file.media_type)
