"""What a dialect is made of: rows that say what a client sees, and functions that do what it asks.

A function gets a `Call` and the arguments, which have passed the tool's schema and have its defaults filled in.
It runs in a thread, calls the engine, and returns a `Reply`. What goes wrong it raises: every `DowseError` is
turned by the dialect's own `failed` into the form that its specification asks for.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from dowse.errors import DowseError, UsageError
from dowse.interfaces.mcp.access import Access
from dowse.interfaces.mcp.shown import all_shown
from dowse.records import record
from dowse.types import Event

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.interfaces.mcp.jobs import Jobs

Json: TypeAlias = dict[str, Any]
Arguments: TypeAlias = Mapping[str, Any]

Lane = Literal["quick", "model", "write"]
"""Which threads a call waits for: those that only look things up never stand behind those that load a model."""

LONGEST_TEXT = 65_536
"""Characters that one argument may have, unless its tool says otherwise."""


class BadArgumentsError(UsageError):
    """What was given is not what the tool takes; `details["argument"]` names the culprit."""

    code = "bad_arguments"


class UnexpectedError(DowseError):
    """A bug of ours; the message says no more than a client should know."""

    code = "internal"


@record
class Hints:
    """The four annotations that tell a client how careful to be with a tool."""

    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False

    def as_json(self) -> Json:
        """As `tools/list` has them."""
        return {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }


READS = Hints()
"""A tool that only looks at the index."""


@record
class Reply:
    """What a tool answers, in the protocol's own shape."""

    content: Sequence[Json]
    structured: Json | None = None
    is_error: bool = False
    notes: tuple[str, ...] = ()
    """What else the reader should know; travels as `_meta`, for no specification has a place for it."""

    @classmethod
    def text(cls, text: str, structured: Json | None = None, *, is_error: bool = False) -> Self:
        """One text, and beside it the same for programs."""
        return cls(({"type": "text", "text": text},), structured, is_error)

    @classmethod
    def json(cls, value: Json, *, is_error: bool = False) -> Self:
        """A value both as text and as structured content."""
        value = all_shown(value)  # before JSON hides it behind escapes
        return cls.text(json.dumps(value, ensure_ascii=False), value, is_error=is_error)


@record
class Call:
    """What a function of a dialect works with."""

    engine: "Engine"
    access: Access
    """What this connection may do."""
    jobs: "Jobs"
    """Work that outlives the call."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What the command line said to the dialect, for example `collection`."""
    tell: Callable[[Event], None] = lambda _: None
    """Report a step: pass it as `on_event`. Raises where the client has cancelled the call."""

    def check_path(self, path: str | Path) -> Path:
        """The file or folder that a path means, if it may be ingested; the collections' own folders always may.

        Raises:
            RefusedError: it may not. Whether it exists makes no difference.
        """
        known = (each.collection.root for each in self.engine.collections())
        return self.access.with_roots(root for root in known if root).check_path(path)


@record
class Tool:
    """One row of the table of tools."""

    name: str
    title: str
    description: str
    input: Json
    """The JSON Schema of its arguments, exactly as `tools/list` shows it."""
    run: Callable[[Call, Arguments], Reply]
    output: Json | None = None
    """The JSON Schema of its structured content; then every answer that is no error has some."""
    hints: Hints = READS
    lane: Lane | Callable[[Arguments], Lane] = "quick"
    longest_text: int = LONGEST_TEXT
    """More for a tool that takes whole documents."""
    fills_defaults: bool = True
    """False for a tool that must know what was left out, because its defaults are settings of a collection."""


@record
class Resource:
    """Something that can be read by its address; one with `{name}` or `{+path}` in it is a template."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    read: Callable[[Call, str, Mapping[str, str]], Sequence[Json]]
    """From the address asked for and what stands at its variables, as sent, to the contents."""


@record
class PromptArgument:
    """A blank in a prompt."""

    name: str
    description: str
    required: bool = False


@record
class Prompt:
    """A text that a person can put into the conversation."""

    name: str
    title: str
    description: str
    render: Callable[[Mapping[str, str]], str | Sequence[Json]]
    """From the arguments to what the user says: a text, or contents of any kind, a message each."""
    arguments: tuple[PromptArgument, ...] = ()


@record
class Dialect:
    """The tables of one dialect."""

    name: str
    """What `--dialect` and the URLs call it."""
    server_name: str
    title: str
    tools: tuple[Tool, ...]
    failed: Callable[[DowseError, str], Reply]
    """The dialect's form of an error, from the error and the tool's name."""
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    instructions: str | Callable[["Engine"], str] = ""
    """For the client's model, below 2,000 characters; never with words from documents in it."""
    trusts_urls: bool = True
    """Whether public addresses may be fetched though the command line allows none by name."""

    def tools_for(self, access: Access) -> Iterable[Tool]:
        """The tools that a connection sees: those that write are not there where nothing may be written."""
        return (tool for tool in self.tools if tool.hints.read_only or not access.read_only)
