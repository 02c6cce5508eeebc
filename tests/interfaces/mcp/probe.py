"""A dialect for testing what serves dialects; run as a program, it is served on stdin and stdout.

python probe.py FOLDER
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dowse.errors import DowseError, NotFoundError, UsageError
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.dialect import (
    Arguments,
    Call,
    Dialect,
    Hints,
    Prompt,
    PromptArgument,
    Reply,
    Resource,
    Tool,
)
from dowse.types import Event
from workbench import open_at

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}


def taking(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, schema in properties.items() if "default" not in schema],
        "additionalProperties": False,
    }


def failed(error: DowseError, tool: str) -> Reply:
    return Reply.json({"failed": tool, "code": error.code, "message": error.message}, is_error=True)


def echo(_: Call, arguments: Arguments) -> Reply:
    return Reply.json({"said": arguments["text"]})


def crash(_: Call, __: Arguments) -> Reply:
    raise ZeroDivisionError("a secret of the house")


def noise(_: Call, __: Arguments) -> Reply:
    """Everything that could spoil the protocol."""
    print("printed")  # noqa: T201  # the point
    os.write(1, b"written\n")
    subprocess.run([sys.executable, "-c", "import sys; print('child'); sys.stdin.read()"], check=True)
    return Reply.text("quiet")


def steps(call: Call, arguments: Arguments) -> Reply:
    for number in range(1, int(arguments["count"]) + 1):
        call.tell(Event("read", number, int(arguments["count"]), f"file{number}.md"))
    return Reply.text("done")


def wait(call: Call, arguments: Arguments) -> Reply:
    """Work until a file appears, or until the call is cancelled, which leaves a file behind."""
    file = Path(arguments["file"])
    Path(f"{file}.started").touch()
    pause = threading.Event()
    try:
        while not file.exists():
            call.tell(Event("read", 1, 0, "on and on"))
            pause.wait(0.01)
    except BaseException:
        Path(f"{file}.cancelled").touch()
        raise
    return Reply.text("found")


def write(_: Call, __: Arguments) -> Reply:
    return Reply.text("written")


def fetch(call: Call, arguments: Arguments) -> Reply:
    return Reply.json({"url": call.access.check_url(arguments["url"])})


def read_thing(_: Call, uri: str, variables: Mapping[str, str]) -> list[dict[str, Any]]:
    name = variables.get("name", "")
    errors: dict[str, Callable[[str], DowseError]] = {"gone": NotFoundError, "odd": UsageError, "broken": DowseError}
    if name in errors:
        raise errors[name](f"{name} cannot be read")
    if name == "crash":
        raise ZeroDivisionError("a secret of the house")
    return [{"uri": uri, "mimeType": "text/plain", "text": f"<{name}>", "title": "a member of ours"}]


TEXT = {"type": "string"}
PROBE = Dialect(
    name="probe",
    server_name="the-probe",
    title="Probe",
    failed=failed,
    instructions=lambda engine: f"{engine.stats().documents} documents",
    trusts_urls=False,
    tools=(
        Tool("echo", "Echo", "Says it.", taking(text=TEXT), echo, {"type": "object", "required": ["said"]}),
        Tool("crash", "Crash", "Fails.", NOTHING, crash),
        Tool("noise", "Noise", "Prints.", NOTHING, noise),
        Tool("steps", "Steps", "Reports.", taking(count={"type": "integer", "default": 3}), steps, lane="write"),
        Tool("wait", "Wait", "Waits.", taking(file=TEXT), wait, lane="model"),
        Tool("write", "Write", "Writes.", NOTHING, write, hints=Hints(read_only=False), lane="write"),
        Tool("fetch", "Fetch", "Checks an address.", taking(url=TEXT), fetch),
    ),
    resources=(
        Resource("probe://all", "all", "All", "Everything.", "text/plain", read_thing),
        Resource("probe://things/{name}", "thing", "Thing", "One thing.", "text/plain", read_thing),
    ),
    prompts=(
        Prompt(
            "greet",
            "Greet",
            "Greets.",
            lambda arguments: f"Hello {arguments['name']}, {json.dumps(arguments.get('mood', 'well'))}",
            (PromptArgument("name", "Whom", required=True), PromptArgument("mood", "How")),
        ),
    ),
)

if __name__ == "__main__":
    from dowse.interfaces.mcp.server import Serving
    from dowse.interfaces.mcp.stdio import serve

    with open_at(Path(sys.argv[1])) as engine:
        serve(PROBE, Serving(engine, Access.on_stdio()))
