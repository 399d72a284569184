from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.cage.output import read_output


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    assert read_output(tmp_path / "file") == b"text"
    assert read_output(tmp_path / "file", most=4) == b"text"


@pytest.mark.parametrize("kind", ["link", "name", "fifo", "folder", "giant", "none"])
def test_nothing_else_is(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_bytes(b"text")
    path = tmp_path / "file"
    match kind:
        case "link":
            path.symlink_to(tmp_path / "secret")
        case "name":
            os.link(tmp_path / "secret", path)
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "giant":
            path.write_bytes(b"texts")
    with pytest.raises(OSError):
        read_output(path, most=4)
