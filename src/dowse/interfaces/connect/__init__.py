"""Telling clients of the Model Context Protocol where Dowse is: what each one reads, and how to change just that.

`clients.py` is the table of clients; `entry.py` makes what is written; `json_text.py` and `toml_text.py` change a text
at one place and leave the rest as it was; `files.py` keeps the files safe; `connecting.py` puts it together.
"""
