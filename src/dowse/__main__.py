"""`python -m dowse` is the command `dowse`."""

import sys

from dowse.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
