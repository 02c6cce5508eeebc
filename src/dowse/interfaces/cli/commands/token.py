"""`token`: who may come in over HTTP."""

import re
import time
from datetime import UTC, datetime

import click

from dowse.errors import UsageError
from dowse.interfaces import wire
from dowse.interfaces.cli import terminal
from dowse.interfaces.cli.app import Group
from dowse.interfaces.cli.options import json_option
from dowse.interfaces.cli.session import Session
from dowse.interfaces.tokens import Token, Tokens

_SPAN = re.compile(r"([1-9]\d{0,5})([mhdwy])", re.ASCII)
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000}


@click.group(cls=Group)
def token() -> None:
    """Make, list and revoke tokens for servers of this index."""


@token.command()
@click.option("--name", default="", help="What to call it in lists.")
@click.option("--collections", metavar="A,B", help="The only collections that it sees and changes; default: all.")
@click.option("--read-only", is_flag=True, help="It changes nothing.")
@click.option("--expires", metavar="SPAN", help="When it ends: 12h, 30d, 8w, 1y; default: never.")
@json_option
@click.pass_obj
def create(
    session: Session, /, name: str, collections: str | None, expires: str | None, *, read_only: bool, as_json: bool
) -> None:
    """Make a token and print it, this once: only its hash is kept."""
    names = None if collections is None else [each.strip() for each in collections.split(",") if each.strip()]
    if names == []:
        raise UsageError("--collections names none.", hint="Name some, or leave it out for all.")
    made, secret = Tokens(session.config.index_dir).create(
        name, collections=names, read_only=read_only, expires_at=_until(expires)
    )
    if as_json:
        terminal.write(wire.dumps(_json(made) | {"token": secret}) + "\n")
        return
    terminal.write(f"{secret}\n")
    session.say(f"Made token {made.id}. Send it as: Authorization: Bearer {secret[:10]}…")


@token.command(name="list")
@json_option
@click.pass_obj
def list_tokens(session: Session, /, *, as_json: bool) -> None:
    """List the tokens: never themselves, only what is known of them."""
    tokens = Tokens(session.config.index_dir).all()
    if as_json:
        terminal.write(wire.dumps([_json(each) for each in tokens]) + "\n")
        return
    for each in tokens:
        terminal.write(f"{each.id}  {_about(each)}\n")
    if not tokens:
        session.say("There are no tokens. Make one: dowse token create")


@token.command()
@click.argument("name")
@click.pass_obj
def revoke(session: Session, /, name: str) -> None:
    """Revoke a token, by its id or name; running servers refuse it from now on."""
    session.say(f"Revoked token {Tokens(session.config.index_dir).revoke(name).id}.")


def _until(span: str | None) -> int:
    if span is None:
        return 0
    found = _SPAN.fullmatch(span.strip())
    if not found:
        raise UsageError(f"{span!r} is no span of time.", hint="For example: 12h, 30d, 8w, 1y")
    return int((time.time() + int(found[1]) * _SECONDS[found[2]]) * 1000)


def _about(each: Token) -> str:
    said = [each.name or "(no name)", "read" if each.read_only else "read and write"]
    said.append("all collections" if each.collections is None else ", ".join(each.collections))
    if each.expires_at:
        day = datetime.fromtimestamp(each.expires_at / 1000, UTC).strftime("%Y-%m-%d")
        said.append(f"expired on {day}" if each.is_expired else f"until {day}")
    return "; ".join(said)


def _json(each: Token) -> dict[str, object]:
    return {
        "id": each.id,
        "name": each.name,
        "collections": None if each.collections is None else list(each.collections),
        "read_only": each.read_only,
        "created": wire.iso(each.created_at),
        "expires": wire.iso(each.expires_at),
        "expired": each.is_expired,
    }
