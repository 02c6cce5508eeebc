"""Where does the time of indexing go? The steps of `dowse update`, one after the other, each with its own clock.

Every file goes through the same functions that the pipeline calls, in batches of the same size, up to an index of
words that is thrown away. What is left of a real run beside these is SQLite, comparing and start-up.
"""

import hashlib
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from dowse import Config
from dowse.inference import tokenizer_json
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import extract
from dowse.ingest.sources import Found, read, walk
from dowse.store.sqlite.lexical import Entry, LexicalIndex
from dowse.text.fields import lexical_rows
from dowse.text.tokens import TokenCounter
from dowse.types import ref_of

BATCH = 256
OTHERS = "text/plain"


class Clocks(defaultdict[str, float]):
    """CPU-seconds by step."""

    def __init__(self) -> None:
        super().__init__(float)

    @contextmanager
    def run(self, step: str) -> Iterator[None]:
        """Count what happens meanwhile, in every thread, for this step."""
        started = time.process_time()
        yield
        self[step] += time.process_time() - started


def steps_of(folder: Path) -> dict[str, float]:
    """CPU-seconds of each step over all files of a folder."""
    config, clocks = Config.load(), Clocks()
    with clocks.run("walk"):
        files = iter([each for each in walk(folder, "**/*", max_file_size=config.max_file_size) if type(each) is Found])
    with clocks.run("load the tokenizer"):
        counter = TokenCounter(tokenizer_json(config.embedder))
        counter.count("a first word loads it")
    with tempfile.TemporaryDirectory() as scratch:
        index = LexicalIndex(Path(scratch) / "lexical")
        version = 0
        while batch := list(islice(files, BATCH)):
            take(batch, version, index, counter, clocks)
            version += len(batch)
    return dict(clocks)


def take(files: list[Found], version: int, index: LexicalIndex, counter: TokenCounter, clocks: Clocks) -> None:
    """One batch of files, step by step."""
    limit = Config.load().max_file_size
    with clocks.run("read and hash"):
        loaded = [read(file.absolute, limit)[0] for file in files]
        for data in loaded:
            hashlib.sha256(data).hexdigest()
    with clocks.run("extract"):
        texts = [extract(data, file.media_type or OTHERS, file.path) for data, file in zip(loaded, files, strict=True)]
    with clocks.run("chunk and count tokens"):
        chunks = [chunk(text, counter) for text in texts]
    entries: list[Entry] = []
    with clocks.run("analyse"):
        for number, (file, text, cut) in enumerate(zip(files, texts, chunks, strict=True), start=version):
            rows = lexical_rows(text.title or "", file.path, cut)
            entries += [Entry(ref_of(number, at), number, 1, row) for at, row in enumerate(rows)]
    with clocks.run("word index (tantivy)"):
        index.commit(entries, [])
