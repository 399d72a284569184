"""What `--out` means: a file with the form's ending, a folder for it, or a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from exports.place import place_of, refuse_there
from records.errors import UsageError

MODULE, FOLDER = Path("softmax_torch.py"), Path("softmax_hip")


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    Path("file").touch()


@pytest.mark.parametrize(
    ("out", "default", "path"),
    [
        (None, MODULE, "softmax_torch.py"),
        ("mine", MODULE, "mine.py"),
        ("mine.py", MODULE, "mine.py"),
        ("a/b.c/mine", MODULE, "a/b.c/mine.py"),
        ("here", MODULE, "here/softmax_torch.py"),
        ("new/", MODULE, "new/softmax_torch.py"),
        (".", MODULE, "softmax_torch.py"),
        ("..", MODULE, "../softmax_torch.py"),
        (".hidden", MODULE, ".hidden.py"),
        (None, FOLDER, "softmax_hip"),
        ("mine", FOLDER, "mine"),
        ("mine-1.2", FOLDER, "mine-1.2"),
        ("here", FOLDER, "here"),
    ],
)
def test_a_place_is_a_file_or_a_folder_as_the_form_is(out: str | None, default: Path, path: str) -> None:
    assert place_of(out, default, "it") == Path(path)


@pytest.mark.parametrize(
    ("out", "default", "message"),
    [
        ("", MODULE, "names no place"),
        (" ", FOLDER, "names no place"),
        ("mine.cpp", MODULE, "ends in .py"),
        ("v1.2", MODULE, "ends in .py"),
        ("mine.py", FOLDER, "writes a folder"),
        ("file", FOLDER, "writes a folder"),
    ],
)
def test_a_name_that_says_another_thing_is_a_sentence(out: str, default: Path, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        place_of(out, default, "it")


def test_a_dead_link_is_there_too() -> None:
    Path("dead").symlink_to("nowhere")
    with pytest.raises(UsageError, match="give --force"):
        refuse_there([Path("new"), Path("dead")], force=False)
    refuse_there([Path("dead")], force=True)
