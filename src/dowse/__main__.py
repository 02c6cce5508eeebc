"""`python -m dowse` is the command `dowse`, and this is where that command enters."""

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line of this process, `mcp` without what it does not need."""
    if "mcp" in sys.argv or "server" in sys.argv:
        from dowse.interfaces.daemon.thin import quick

        code = quick(sys.argv[1:])
        if code is not None:
            return code
    from dowse.interfaces.cli import main as command_line  # click and everything else

    return command_line()


if __name__ == "__main__":
    sys.exit(main())
