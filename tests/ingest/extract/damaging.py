"""Ways to damage a real file, for the property that every reader survives any bytes."""

from hypothesis import strategies as st

from ingest.extract.checking import read_or_refuse


def mutated(sample: bytes, junk: tuple[bytes, ...] = ()) -> st.SearchStrategy[bytes]:
    """The sample with a few parts cut out, repeated, moved, or replaced by what breaks readers."""
    place = st.integers(0, len(sample))
    piece = st.sampled_from(
        [b"", b"\n", b"\n\n", b"\0", b"\xff\xfe", b"\r", b"\t", b'"', b"\\", "\u2028".encode(), *junk]
    )
    change = st.tuples(place, place, st.one_of(piece, st.binary(max_size=4), st.just(None)), st.integers(1, 3))

    def apply(changes: list[tuple[int, int, bytes | None, int]]) -> bytes:
        data = sample
        for first, second, what, times in changes:
            start, end = sorted((min(first, len(data)), min(second, len(data))))
            end = min(end, start + 200)
            data = data[:start] + (data[start:end] if what is None else what) * times + data[end:]
        return data

    return st.lists(change, min_size=1, max_size=4).map(apply)


def survives_being_cut_off(sample: bytes, media_type: str) -> None:
    """Whatever is left of the file is read, or refused with a reason."""
    for part in range(51):
        read_or_refuse(sample[: len(sample) * part // 50], media_type)
