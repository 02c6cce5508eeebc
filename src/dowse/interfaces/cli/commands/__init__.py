"""The commands, one module per family, and the table of where each one is."""

COMMANDS = {
    "collection": "collection:collection",
    "context": "context:context",
    "update": "indexing:update",
    "embed": "indexing:embed",
    "search": "search:search",
    "vsearch": "search:vsearch",
    "query": "search:query",
    "get": "get:get",
    "multi-get": "get:multi_get",
    "ls": "get:ls",
    "status": "care:status",
    "doctor": "care:doctor",
    "cleanup": "care:cleanup",
    "config": "settings:config",
    "completion": "settings:completion",
}
"""Command -> module and attribute, in the order of `--help`."""
