"""The commands, one module per family; `app.COMMANDS` says where each one is."""
