from __future__ import annotations

from pathlib import Path

from sandbox.cage.view import View


def test_outer_folders_come_before_what_lies_in_them() -> None:
    view = View(readable=(Path("/a/b/c"), Path("/a")), writable=(Path("/a/b"),), devices=())
    assert view.paths() == (("r", Path("/a")), ("w", Path("/a/b")), ("r", Path("/a/b/c")))


def test_a_folder_is_added_to_those_that_can_be_written() -> None:
    view = View(writable=(Path("/a"),)).with_folder(Path("/b"))
    assert view.writable == (Path("/a"), Path("/b"))
