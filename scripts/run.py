"""Index a folder and serve it to agents until interrupted (`make run`), or answer one question (`make demo`)."""

import argparse
import hashlib
import json
import secrets
import shlex
import socket
import subprocess
import sys
from pathlib import Path

from dowse.interfaces.cli import EXIT_INTERRUPTED
from dowse.interfaces.cli import main as program

PROJECT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"


def main() -> int:
    """Run the real commands, shown as they are typed, on an index below the checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="docs", help="the folder to index")
    parser.add_argument("--ask", help="answer this question and end, instead of serving")
    parser.add_argument("--port", type=int, default=8181, help="where to serve; another one if it is taken")
    parser.add_argument("--keep", type=Path, default=PROJECT / ".dowse" / "run", help="where the indexes are kept")
    options = parser.parse_args()
    folder = Path(options.dir).expanduser().resolve()
    if not folder.is_dir():
        print(f"error: there is no folder {folder}\nhint: make run DIR=path/to/your/notes", file=sys.stderr)
        return 2
    # Each folder gets an index of its own, so that two folders of the same name do not meet.
    index = options.keep.absolute() / hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    try:
        return demo(folder, index, options.ask) if options.ask else serve(folder, index, options.port)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def demo(folder: Path, index: Path, question: str) -> int:
    """One question with its answer, and what to type next."""
    bring_up_to_date(folder, index)
    shown("query", question, "-n", "3", index=index)
    command = f"{Path(sys.executable).parent / 'dowse'} --index {index}"
    print(f'\nAsk your own question:\n  {command} query "..."\nSee everything else:\n  {command} --help')
    return 0


def serve(folder: Path, index: Path, wanted: int) -> int:
    """Words are indexed first; vectors, and whatever changes in the folder, follow while clients are answered."""
    bring_up_to_date(folder, index, "--no-embed")
    port = free_port(wanted)
    if port != wanted:
        print(f"\nPort {wanted} is taken, so this is port {port}.")
    token, url = kept_token(index.parent / "token"), f"http://{HOST}:{port}"
    server = {"type": "http", "url": f"{url}/mcp", "headers": {"Authorization": f"Bearer {token}"}}
    print(f"\nFor clients that take a URL (the header is only for what changes the index):\n  {url}/mcp")
    print(json.dumps({"mcpServers": {"dowse": server}}, indent=2))
    dowse = shlex.join([str(Path(sys.executable).parent / "dowse"), "--index", str(index)])
    print(f"For clients that start programs:\n  {dowse} connect claude-code\nCtrl-C ends this.\n", flush=True)
    arguments = ["server", "--transport", "http", "--host", HOST, "--port", str(port), "--token", token, "--watch"]
    code = program(["--index", str(index), *arguments])
    return 0 if code == EXIT_INTERRUPTED else code


def bring_up_to_date(folder: Path, index: Path, *options: str) -> None:
    """Add the folder the first time, update it afterwards."""
    known = json.loads(dowse("ls", "--json", index=index, capture=True))
    name = next((each["name"] for each in known if each["path"] == str(folder)), None)
    verb = ["update", "-c", name] if name else ["collection", "add", str(folder)]
    shown(*verb, *options, index=index)


def free_port(wanted: int) -> int:
    """The wanted port, or any other when something listens there already."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            if sys.platform != "win32":  # as servers do, so that the last run's connections do not count
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
                return int(probe.getsockname()[1])
            except OSError:
                continue
    return wanted


def kept_token(file: Path) -> str:
    """The same token in every run, so that a configuration that was pasted goes on working."""
    if not file.exists() or not file.read_text(encoding="ascii"):
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(24), encoding="ascii")
    return file.read_text(encoding="ascii")


def shown(*arguments: str, index: Path) -> None:
    """Run a command after printing it."""
    print(f"\n$ dowse {shlex.join(arguments)}", flush=True)
    dowse(*arguments, index=index)


def dowse(*arguments: str, index: Path, capture: bool = False) -> str:
    """Run the program on the index; an error ends this script with the program's own exit code."""
    command = [sys.executable, "-m", "dowse", "--index", str(index), *arguments]
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE if capture else None)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout or ""


if __name__ == "__main__":
    sys.exit(main())
