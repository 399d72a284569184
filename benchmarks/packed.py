"""Stored texts: plain, or packed by `gzip -9n FILE` where they are long and only programs read them.

A file is named by its plain name everywhere; NAME.gz stands for NAME where there is no NAME.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from records.files import write_whole

SUFFIX = ".gz"


def located(path: Path) -> Path:
    """Return the path itself, or that of the packed file where only this one is there."""
    packed = path.with_name(path.name + SUFFIX)
    return packed if packed.is_file() and not path.is_file() else path


def read_text(path: Path) -> str:
    """Read a text, packed or not; OSError where there is none."""
    path = located(path)
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == SUFFIX else data).decode()


def write_text(path: Path, text: str) -> None:
    """Write a text whole, packed where it was; the same text gives the same bytes."""
    path = located(path)
    data = text.encode()
    write_whole(path, gzip.compress(data, 9, mtime=0) if path.suffix == SUFFIX else data, is_public=True)
