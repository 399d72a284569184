"""A reader sees all of a file or nothing, and a failed write leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from records.files import read_strange, write_whole


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_file_is_replaced_and_its_folder_made(tmp_path: Path, is_durable: bool) -> None:
    path = tmp_path / "new" / "folder" / "file"
    for data in (b"one", b"two"):
        write_whole(path, data, is_durable=is_durable)
        assert path.read_bytes() == data
    assert [p.name for p in path.parent.iterdir()] == ["file"]


def test_only_what_is_public_can_be_read_by_others(tmp_path: Path) -> None:
    write_whole(tmp_path / "own", b"")
    write_whole(tmp_path / "public", b"", is_public=True)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("own", "public")] == [0o600, 0o644]


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "inside").touch()
    with pytest.raises(OSError, match="taken"):
        write_whole(tmp_path / "taken", b"data")
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_a_strangers_file_is_read_itself_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_strange(tmp_path / "file", 5) == b"12345"
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    for name, most in (("link", 5), ("pipe", 5), (".", 5), ("file", 4), ("nothing", 5)):
        with pytest.raises(OSError):
            read_strange(tmp_path / name, most)
    with pytest.raises(OSError, match="no regular file"):
        read_strange(Path("/dev/zero"), 5)
