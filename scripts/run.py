"""Index a folder, answer one question with citations, and say what to type next (`make run`)."""

import argparse
import hashlib
import shlex
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run the real commands, shown as they are typed, on an index below the checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="docs", help="the folder to index")
    parser.add_argument("--ask", required=True, help="the question to answer")
    options = parser.parse_args()
    folder = Path(options.dir).expanduser().resolve()
    if not folder.is_dir():
        print(f"error: there is no folder {folder}\nhint: make run DIR=path/to/your/notes", file=sys.stderr)
        return 2
    name = folder.name
    # Each folder gets an index of its own, so that two folders of the same name do not meet.
    index = PROJECT / ".dowse" / "run" / hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    known = dowse("ls", "--json", index=index, capture=True)
    verb = ("update", "-c", name) if f'"{folder}"' in known else ("collection", "add", str(folder), "--name", name)
    for command in (verb, ("query", options.ask, "-n", "3")):
        print(f"\n$ dowse {shlex.join(command)}", flush=True)
        dowse(*command, index=index)
    command = f"{Path(sys.executable).parent / 'dowse'} --index {index}"
    print(f'\nAsk your own question:\n  {command} query "..."\nSee everything else:\n  {command} --help')
    return 0


def dowse(*arguments: str, index: Path, capture: bool = False) -> str:
    """Run the program on the index; an error ends this script with the program's own exit code."""
    command = [sys.executable, "-m", "dowse", "--index", str(index), *arguments]
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE if capture else None)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout or ""


if __name__ == "__main__":
    sys.exit(main())
