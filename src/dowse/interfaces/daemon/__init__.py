"""One process per index behind any number of clients that start `dowse mcp`: it holds the model and the writer.

    thin.py      the client's process: a command line becomes a hello, without any of the heavy imports
    pipe.py      bytes between that client and the daemon, and what happens when the daemon dies
    meeting.py   where the two find each other, and how the first client starts the daemon
    serving.py   the daemon: connections, each with the policy of its own command line
    standing.py  what the daemon says of itself

Everything but `serving.py` is light: a thin client imports no more of the program than its settings.
"""
