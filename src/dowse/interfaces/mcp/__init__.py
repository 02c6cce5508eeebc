"""Agents reach Dowse here: the Model Context Protocol, in several dialects over one engine.

A dialect (`dialects/`) is a table of tools, resources and prompts with small functions around the engine; it
knows nothing of the protocol. `server.py` turns such a table into a server of the `mcp` library, `stdio.py` and
`http.py` carry it. Only these three import that library, for it takes more than a second to load.
"""
