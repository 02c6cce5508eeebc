"""Follow folders as they change: `watcher.Watcher` does it, `state.watch_status` tells whether somebody does.

Nothing is imported here, so that asking for the status costs little.
"""
