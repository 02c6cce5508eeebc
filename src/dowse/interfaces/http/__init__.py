"""The HTTP API: one application on one port, for programs and for the web page, beside MCP.

A route is a row of a table (`rows.py`): what it takes, what it gives, which right it needs, and the function that
does it. `table.py` has all rows; requests are checked (`asking.py`), answered (`answering.py`) and described
(`openapi.py`) by the same rows. Around everything stands the guard (`guard.py`): who may come in, and how much.
"""
