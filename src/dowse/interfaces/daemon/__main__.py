"""`python -m dowse.interfaces.daemon` is the daemon. `meeting.py` starts it and tells it the rest on stdin."""

import json
import sys
from pathlib import Path

from dowse.config import Config
from dowse.interfaces.daemon.meeting import Spot
from dowse.interfaces.daemon.serving import run

if __name__ == "__main__":
    told = json.load(sys.stdin)
    run(Config(**told["settings"]), Spot(Path(told["folder"]), told["key"]))
