"""What happens below HTTP: the connections themselves."""

import asyncio
import socket

import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from dowse.interfaces.http.serving import config_for


def made(config: uvicorn.Config, kept: list[asyncio.Protocol]) -> asyncio.Protocol:
    protocol: asyncio.Protocol = config.http_protocol_class(config, ServerState(), {})
    kept.append(protocol)
    return protocol


def test_answers_do_not_wait_for_the_client_to_confirm_their_beginning() -> None:
    async def ask(listener: socket.socket) -> tuple[bytes, int]:
        config, kept = config_for(PlainTextResponse("whole")), []
        server = await asyncio.get_running_loop().create_server(lambda: made(config, kept), sock=listener)
        async with server:
            reader, writer = await asyncio.open_connection(*listener.getsockname()[:2])
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = await reader.readuntil(b"whole")
            used = kept[0].transport.get_extra_info("socket")  # type: ignore[attr-defined]  # every HTTP protocol has it
            no_delay = used.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()
        return answer, no_delay

    answer, no_delay = asyncio.run(ask(socket.create_server(("127.0.0.1", 0))))
    assert answer.startswith(b"HTTP/1.1 200")
    assert no_delay
