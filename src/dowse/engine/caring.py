"""The verbs that look after an index: counting, cleaning, carrying away, examining."""

from collections.abc import Callable
from pathlib import Path

from dowse.engine.stores import migrate
from dowse.engine.wired import Wired
from dowse.types import Event, Finding, StoreStats, TransferReport

__all__ = ["Caring"]


class Caring(Wired):
    """Care for one index."""

    def stats(self) -> StoreStats:
        """Counts and sizes."""
        with self._store.snapshot() as snapshot:
            return snapshot.stats()

    def cleanup(self, *, days: float | None = None) -> int:
        """Free what deleted documents left behind more than `days` ago; returns bytes freed."""
        keep = self.config.keep_days if days is None else days
        return self._store.cleanup(int(keep * 86_400_000))

    def backup(self, file: Path | str, *, replace: bool = False) -> TransferReport:
        """Write the whole index to one file, consistent also while others write to it."""
        from dowse.engine.care import backup

        return backup(self._store, Path(file), replace=replace)

    def restore(self, file: Path | str, *, force: bool = False) -> TransferReport:
        """Put a backup in the place of this index; `force` also where there are documents in it."""
        from dowse.engine.care import restore

        return restore(self._store, Path(file), force=force)

    def export_collection(self, name: str, file: Path | str, *, replace: bool = False) -> TransferReport:
        """Write a collection to one file with its vectors, for another index."""
        from dowse.engine.care import export_collection

        self._known(name)
        return export_collection(self._store, name, Path(file), replace=replace)

    def import_collection(self, file: Path | str, *, name: str = "", root: Path | str | None = None) -> TransferReport:
        """Take in what `export_collection` wrote; nothing is embedded again where the model is the same."""
        from dowse.engine.care import import_collection

        return import_collection(self._store, Path(file), self._parts.known_identity(), name=name, root=root)

    def migrate(self, to: str | Path, *, on_event: Callable[[Event], None] | None = None) -> TransferReport:
        """Copy everything into another index, by name, path or the address of a cluster; go on where it stopped."""
        return migrate(self._store, self.config, to, on_event=on_event)

    def doctor(
        self, *, deep: bool = False, repair: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> list[Finding]:
        """Examine the index; `repair` first rebuilds everything that is derived."""
        from dowse.engine.doctor import examine

        if repair:
            self._store.rebuild(progress)
        return examine(self._store, self.config, self._parts, deep=deep)

    def bundle(self, file: Path | str, *, replace: bool = False) -> int:
        """Write what helps to find a problem to a file, without names and texts; returns its size."""
        from dowse.engine.bundle import write_bundle

        return write_bundle(self._store, self.config, self.doctor(), Path(file), replace=replace)

    @property
    def bundle_contents(self) -> tuple[str, ...]:
        """What is in such a file, in words."""
        from dowse.engine.bundle import CONTENTS

        return CONTENTS
