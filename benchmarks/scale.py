"""What do large folders cost? Indexing by words, updates, memory and size over folders that are made up here.

    python benchmarks/scale.py TEXTS [--parts notes,tree,pdf] [--notes N] [--megabytes N] [--pages N] [--keep DIR]

TEXTS is a folder with judged collections (corpus.jsonl): their sentences, in an order that is the same every time,
become the files. Three parts: `notes` is 10,000 Markdown files of about 4 KB, and says where the time goes;
`tree` is 500 MB in files of 40 KB; `pdf` is one file of 1,000 pages. Nothing is embedded. Times are CPU-seconds of all
processes, because the machines that run this are shared; memory is the most that all of them held at once.
Results go to benchmarks/results/scale.json, beside those of parts that were not run this time.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import dowse
from quality import RESULTS, collections_in, rows_of
from scale_steps import steps_of

NOTE = 4_000  # bytes, on average
LARGE_NOTE = 40_000
OVERHANG = 450  # the last block ends this far behind the size that was asked for
FOLDER = 100  # files
LINE = 90  # characters of a line in the PDF
LINES = 52
NO_OPS = 5
LOOK = 0.05  # seconds between two looks at the memory
WRITTEN = 1_700_000_000  # when all files claim to be written
FEWEST_LETTERS = 40
LONGEST_SENTENCE = 400  # longer ones are lists, code or text without marks
LOWER_CASE = re.compile("[a-z]")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")

Figures = dict[str, float | int]


def main() -> int:
    """Make the files, measure, print a table and remember it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--keep", type=Path, help="where to make the files; removed afterwards if not given")
    parser.add_argument("--output", type=Path, default=RESULTS / "scale.json")
    options = parser.parse_args()
    sentences = sentences_of(options.texts)
    if not sentences:
        print("error: no sentences found\nhint: name a folder with judged collections (corpus.jsonl)", file=sys.stderr)
        return 2
    report = json.loads(options.output.read_text()) if options.output.is_file() else {}
    report["version"] = dowse.__version__
    for part in options.parts.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            place = ((options.keep or Path(scratch)) / part).resolve()
            figures = PARTS[part](place, Writer(sentences), options)
        report[part] = figures
        print(part)
        for name, value in figures.items():
            print(f"  {name:<42}{value:>14.3f}" if isinstance(value, float) else f"  {name:<42}{value:>14}", flush=True)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


# The parts


def measure_notes(place: Path, writer: "Writer", options: argparse.Namespace) -> Figures:
    """Many small files: the first run, where its time goes, and a run without changes."""
    make_once(place / "files", lambda folder: writer.notes(folder, options.notes, NOTE))
    figures = measure_folder(place)
    index = place / "index"
    start_up = min(run("--version", index=index).cpu for _ in range(NO_OPS))
    no_op = min(run("update", "--no-embed", "--quiet", index=index).cpu for _ in range(NO_OPS))
    figures |= {"no-op update, CPU-s": no_op, "of it start-up, CPU-s": start_up}
    return figures | {f"step {name}, CPU-s": seconds for name, seconds in steps_of(place / "files").items()}


def measure_tree(place: Path, writer: "Writer", options: argparse.Namespace) -> Figures:
    """So much text that it must not be held in memory."""
    make_once(
        place / "files", lambda folder: writer.notes(folder, options.megabytes * 1_000_000 // LARGE_NOTE, LARGE_NOTE)
    )
    return measure_folder(place)


def measure_pdf(place: Path, writer: "Writer", options: argparse.Namespace) -> Figures:
    """One long PDF."""

    def make(folder: Path) -> None:
        (folder / "book.pdf").write_bytes(pdf([writer.page() for _ in range(options.pages)]))

    make_once(place / "files", make)
    return {"pages": options.pages} | measure_folder(place)


PARTS: dict[str, Callable[[Path, "Writer", argparse.Namespace], Figures]] = {
    "notes": measure_notes,
    "tree": measure_tree,
    "pdf": measure_pdf,
}


def measure_folder(place: Path) -> Figures:
    """The first index of the files at this place."""
    index = place / "index"
    shutil.rmtree(index, ignore_errors=True)
    ran = run("collection", "add", str(place / "files"), "--name", "bench", "--no-embed", "--quiet", index=index)
    with dowse.open(index) as engine:
        stats = engine.stats()
        if engine.ledger():
            raise SystemExit(f"not indexed: {engine.ledger()[0].reason}")
    text = sum(path.stat().st_size for path in (place / "files").rglob("*") if path.is_file())
    return {
        "documents": stats.documents,
        "passages": stats.chunks,
        "source files, MB": text / 1e6,
        "index, MB": stats.bytes_on_disk / 1e6,
        "index / source files": stats.bytes_on_disk / text,
        "first index, CPU-s": ran.cpu,
        "first index, s": ran.seconds,
        "first index, peak MB": ran.peak / 1e6,
    }


class Ran:
    """What one run of the program in a process of its own took."""

    def __init__(self, cpu: float, seconds: float, peak: int) -> None:
        self.cpu, self.seconds, self.peak = cpu, seconds, peak


def run(*arguments: str, index: Path) -> Ran:
    """Run the program; memory is looked at all the time, CPU time is counted by the system."""
    started, before = time.monotonic(), os.times()
    process = subprocess.Popen(
        [sys.executable, "-m", "dowse", "--index", str(index), *arguments], stdout=subprocess.DEVNULL
    )
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory_of(process.pid))
        time.sleep(LOOK)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed with exit code {process.returncode}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Ran(cpu, time.monotonic() - started, peak)


def memory_of(process: int) -> int:
    """Bytes that a process and those below it have in memory, what they share counted for each."""
    folder = Path("/proc") / str(process)
    try:
        pages = int((folder / "statm").read_text().split()[1])
        below = [int(each) for task in (folder / "task").iterdir() for each in (task / "children").read_text().split()]
    except (OSError, IndexError):  # it has just ended
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(map(memory_of, below))


# The files


def sentences_of(folders: Sequence[Path]) -> list[str]:
    """The English sentences of the judged collections, in their order."""
    return [
        " ".join(sentence.split())
        for folder in collections_in(folders)
        for row in rows_of(folder / "corpus.jsonl")
        for sentence in SENTENCE_END.split(row["text"])
        if len(sentence) <= LONGEST_SENTENCE and len(LOWER_CASE.findall(sentence)) >= FEWEST_LETTERS
    ]


def make_once(folder: Path, make: Callable[[Path], None]) -> None:
    """Make the files unless an earlier run kept them."""
    if not folder.is_dir():
        unfinished = folder.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        make(unfinished)
        for path in unfinished.rglob("*"):
            os.utime(path, (WRITTEN, WRITTEN))  # what was written just now is read again by every update
        unfinished.rename(folder)


class Writer:
    """Puts sentences together, in the same way every time."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._sentences = sentences
        self._chance = random.Random(3)  # noqa: S311 - the same files every time, not a secret

    def notes(self, folder: Path, count: int, size: int) -> None:
        """So many Markdown files of about this size, in folders of a hundred."""
        for number in range(count):
            path = folder / f"part-{number // FOLDER:03d}" / f"note-{number:06d}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n\n".join(self._blocks(size)) + "\n", encoding="utf-8")

    def page(self) -> list[str]:
        """The lines of a full page."""
        lines: list[str] = []
        while len(lines) < LINES:
            lines += wrapped(self._paragraph(), LINE)
        return lines[:LINES]

    def _blocks(self, size: int) -> Iterator[str]:
        chance = self._chance
        title = self._words()
        tags = ", ".join(self._words().lower().split()[:3])
        size -= OVERHANG
        yield f"---\ntitle: {title}\ntags: [{tags}]\n---" if chance.random() < 1 / 4 else f"# {title}"
        while size > 0:
            kind = chance.random()
            if kind < 1 / 5:
                block = f"## {self._words()}"
            elif kind < 3 / 10:
                block = "\n".join(f"- {self._sentence()}" for _ in range(chance.randint(2, 5)))
            elif kind < 2 / 5:
                names = [word.strip(".,").lower() for word in self._sentence().split()[:8]]
                block = "```python\n" + "\n".join(f"{name} = load({name!r})" for name in names) + "\n```"
            else:
                block = self._paragraph()
            size -= len(block)
            yield block

    def _paragraph(self) -> str:
        return " ".join(self._sentence() for _ in range(self._chance.randint(2, 5)))

    def _sentence(self) -> str:
        return self._chance.choice(self._sentences)

    def _words(self) -> str:
        words = re.findall(r"[A-Za-z]+", self._sentence())
        return " ".join(words[: self._chance.randint(2, 6)])


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most this many characters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF with these lines, in one font; the smallest file that a reader takes for whole."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        shown = " T* ".join(f"({escaped(line)}) Tj" for line in lines)
        content = f"BT /F1 10 Tf 13 TL 60 750 Td {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    data = bytearray(b"%PDF-1.4\n")
    places = []
    for number, each in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{each}\nendobj\n".encode("ascii")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return bytes(data) + f"{tail}startxref\n{len(data)}\n%%EOF\n".encode("ascii")


def escaped(line: str) -> str:
    """A line as a string of a PDF."""
    plain = line.encode("ascii", "ignore").decode("ascii")
    return re.sub(r"([\\()])", r"\\\1", plain)


if __name__ == "__main__":
    sys.exit(main())
