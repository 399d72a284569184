"""The folder of `check --keep`: it takes no other folder's place, and its README.txt names what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from records.errors import UsageError
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan, ScalarArg
from sandbox.evidence import LARGEST_BYTES, README, Evidence
from sandbox.process import Completed

PLAN = ResolvedPlan((ResolvedLaunch("copy", (4, 1, 1), (64, 1, 1), 0, (BufferArg("x"), ScalarArg("i32", 7))),), {})


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="holds other files; give --keep a new or an empty folder"):
        Evidence(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(UsageError, match="cannot be used for --keep"):
        Evidence(tmp_path / "taken")


def test_the_evidence_of_an_earlier_check_is_replaced(tmp_path: Path) -> None:
    before = Evidence(tmp_path / "kept")
    folder = before.once("gpu")
    assert folder is not None
    (folder / "candidate.s").write_text("old")
    after = Evidence(tmp_path / "kept")
    assert not (folder / "candidate.s").exists()
    assert after.once("gpu") == folder
    assert after.once("gpu") is None


def test_commands_and_executions_are_named_with_their_files(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path / "kept")
    gpu = evidence.once("gpu")
    assert gpu is not None
    (gpu / "candidate.s").write_text("k:")
    evidence.command(gpu, ["clang", "-DN=a b"], {"HOME": "/h"}, Completed(1, "", "error: no", False, 0.1))
    evidence.command(tmp_path, ["elsewhere"], {}, Completed(0, "", "", False, 0.1))
    work = tmp_path / "work"
    work.mkdir()
    for name in ("request.bin", "result.json", "memory.bin", "masks.bin"):
        (work / name).write_text(name)
    (tmp_path / "a.image").write_text("image")
    evidence.execution(work, tmp_path / "a.image", PLAN, {"x": 28})
    evidence.execution(work, tmp_path / "a.image", PLAN, {"x": LARGEST_BYTES + 1})
    folder = tmp_path / "kept"
    readme = (folder / README).read_text()
    assert "gpu/candidate.s" in readme and "gpu/candidate.o" not in readme
    assert "executor ../images/a.image ." in readme and (folder / "images" / "a.image").read_text() == "image"
    assert "clang '-DN=a b'" in readme and "exit status 1" in readme and "elsewhere" not in readme
    assert "HOME=/h" in readme
    assert "error: no" in (folder / "messages.txt").read_text()
    assert (folder / "run-01" / "memory.bin").read_text() == "memory.bin"
    assert not (folder / "run-02" / "memory.bin").exists()
    assert "launch copy: grid (4, 1, 1), block (64, 1, 1)" in (folder / "run-02" / "launches.txt").read_text()
