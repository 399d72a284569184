"""A folder that a command makes is whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.new_folder import refuse_taken, whole_or_none
from records.errors import UsageError


@pytest.mark.parametrize("error", [KeyboardInterrupt(), UsageError("no"), ValueError()])
def test_nothing_stays_where_its_making_does_not_end(error: BaseException, tmp_path: Path) -> None:
    with pytest.raises(type(error)), whole_or_none(tmp_path / "a" / "b" / "task") as folder:
        (folder / "task.toml").write_text("x", encoding="utf-8")
        raise error
    assert not list(tmp_path.iterdir())


def test_a_whole_one_stays(tmp_path: Path) -> None:
    with whole_or_none(tmp_path / "a" / "task") as folder:
        (folder / "task.toml").write_text("x", encoding="utf-8")
    assert (tmp_path / "a" / "task" / "task.toml").is_file()


def test_a_disk_that_refuses_is_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"cannot be written .*name another place"),
        whole_or_none(tmp_path / "x") as folder,
    ):
        (folder / "no" / "file").write_bytes(b"")
    assert not list(tmp_path.iterdir())


def test_what_is_there_already_and_places_that_take_none_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("file", "link"):
        with pytest.raises(UsageError, match="is there already"):
            refuse_taken(tmp_path / name)
    with pytest.raises(UsageError, match="takes no new folder"):
        refuse_taken(tmp_path / "file" / "task")
    refuse_taken(tmp_path / "new" / "task")
    assert not (tmp_path / "new").exists()
