"""Stored texts read the same packed or not, and what is long is packed."""

from __future__ import annotations

import gzip
from pathlib import Path

from benchmarks.folders import DATA
from benchmarks.packed import located, read_text, write_text

MOST_LINES = 700  # of a table that people read in the tree


def test_a_text_reads_the_same_packed_or_not_and_is_written_as_it_was(tmp_path: Path) -> None:
    plain = tmp_path / "times.tsv"
    write_text(plain, "a\tb\n")
    assert plain.read_text(encoding="utf-8") == read_text(plain) == "a\tb\n"
    packed = tmp_path / "times.tsv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert (located(plain), read_text(plain)) == (packed, "a\tb\n")
    write_text(plain, "c\n")
    first = packed.read_bytes()
    write_text(plain, "c\n")
    assert gzip.decompress(first) == b"c\n" and packed.read_bytes() == first and not plain.exists()


def test_long_tables_are_packed_and_none_lies_there_twice() -> None:
    texts = [path for path in DATA.iterdir() if path.suffix in (".json", ".tsv")]
    assert [path.name for path in texts if len(read_text(path).splitlines()) > MOST_LINES] == []
    assert [path.name for path in texts if path.with_name(f"{path.name}.gz").exists()] == []
