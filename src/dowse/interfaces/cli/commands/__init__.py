"""The commands, one module per family, and the table of where each one is."""

COMMANDS = {
    "collection": "collection:collection",
    "context": "context:context",
    "update": "indexing:update",
    "embed": "indexing:embed",
    "watch": "watch:watch",
    "ingest": "ingest:ingest",
    "delete": "ingest:delete",
    "search": "search:search",
    "vsearch": "search:vsearch",
    "query": "search:query",
    "get": "get:get",
    "multi-get": "get:multi_get",
    "ls": "get:ls",
    "list": "ingest:list_documents",
    "mcp": "serving:mcp",
    "server": "serving:server",
    "token": "token:token",
    "verify": "checking:verify",
    "why": "checking:why",
    "status": "care:status",
    "doctor": "care:doctor",
    "cleanup": "care:cleanup",
    "config": "settings:config",
    "completion": "settings:completion",
}
"""Command -> module and attribute, in the order of `--help`."""
