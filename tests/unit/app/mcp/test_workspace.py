"""The workspace: nothing outside it is read or written, by whatever way a name leads there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.mcp.workspace import MOST_FILE_BYTES, ClientFolder
from records.errors import UsageError

SECRET = "a secret of the machine"


@pytest.fixture
def inside(tmp_path: Path) -> ClientFolder:
    root = tmp_path / "work"
    (root / "deep").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "work-other").mkdir()
    (tmp_path / "work-other" / "secret.txt").write_text(SECRET)
    (root / "mine.hip").write_text("kernel")
    (root / "deep" / "mine.hip").write_text("deeper")
    (root / "link.hip").symlink_to(tmp_path / "secret.txt")
    (root / "away").symlink_to(tmp_path)
    (root / "again").symlink_to(root / "deep")
    os.mkfifo(root / "pipe")
    return ClientFolder(root)


OUTSIDE = (
    "../secret.txt",
    "deep/../../secret.txt",
    "../work-other/secret.txt",
    "link.hip",
    "away/secret.txt",
    "away",
    "again/mine.hip",
    "/etc/passwd",
    "//etc/passwd",
    "~/secret.txt",
    "/proc/self/environ",
    "deep/..",
    "",
    ".",
    "mine.hip\0",
    "mine.hip/..",
    "gone.hip",
    "pipe",
    "deep",
    "mine.hip/x",
    "x" * 5000,
)


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_not_a_file_inside_is_refused_in_a_sentence(inside: ClientFolder, name: str) -> None:
    with pytest.raises(UsageError) as refused:
        inside.read(name)
    assert SECRET not in str(refused.value) and "\n" not in str(refused.value) and len(str(refused.value)) < 400


@pytest.mark.parametrize("name", [*OUTSIDE[:13], "link.hip", "again/new.hip", "gone/new.hip", "pipe", "deep"])
def test_nothing_is_written_but_plain_files_inside(inside: ClientFolder, name: str) -> None:
    before = {p: p.lstat().st_mtime_ns for p in inside.root.parent.rglob("*")}
    with pytest.raises(UsageError):
        inside.write(name, b"changed", replace=True)
    assert {p: p.lstat().st_mtime_ns for p in inside.root.parent.rglob("*")} == before


def test_files_inside_are_read_and_written_whole(inside: ClientFolder) -> None:
    assert (inside.read("mine.hip"), inside.read("./deep/mine.hip")) == ("kernel", "deeper")
    assert inside.write("deep/new.hip", b"new").read_text() == "new"
    with pytest.raises(UsageError, match="there already"):
        inside.write("deep/new.hip", b"newer")
    inside.write("deep/new.hip", b"newer", replace=True)
    assert inside.read("deep/new.hip") == "newer"
    assert sorted(p.name for p in (inside.root / "deep").iterdir()) == ["mine.hip", "new.hip"]


def test_folders_of_tasks_are_inside_too(inside: ClientFolder) -> None:
    assert inside.folder("deep") == inside.root / "deep"
    for name in ("away", "again", "mine.hip", "..", "/etc", "gone"):
        with pytest.raises(UsageError):
            inside.folder(name)


@pytest.mark.parametrize("name", ["task.toml", "seed.hip", "reference.py"])
@pytest.mark.parametrize("how", ["a link outside", "a link inside", "a pipe"])
def test_a_folder_with_anything_that_leads_elsewhere_is_no_task(inside: ClientFolder, name: str, how: str) -> None:
    path = inside.root / "deep" / name
    if how == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(inside.root / "mine.hip" if how.endswith("inside") else inside.root.parent / "secret.txt")
    with pytest.raises(UsageError, match=f"'deep/{name}' is neither a file nor a folder; links are not followed"):
        inside.folder("deep")


def test_large_files_and_those_that_are_no_text_are_refused(inside: ClientFolder) -> None:
    (inside.root / "large").write_bytes(b"x" * (MOST_FILE_BYTES + 1))
    (inside.root / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="larger than"):
        inside.read("large")
    with pytest.raises(UsageError, match="UTF-8"):
        inside.read("binary")
    with pytest.raises(UsageError, match="not a folder"):
        ClientFolder(inside.root / "mine.hip")
