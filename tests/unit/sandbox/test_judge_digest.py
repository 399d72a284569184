from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sandbox.judge_digest import ROOT, judge_digest


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("sandbox", "tasks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    "changed",
    [
        "sandbox/lab/cases_met.py",
        "sandbox/machine/interpreter/waits.cpp",
        "sandbox/machine/instructions.tsv",
        "sandbox/targets/mi300x.toml",
        "tasks/compare.py",
    ],
)
def test_a_change_of_what_makes_a_verdict_changes_it(changed: str, copy: Path) -> None:
    before = judge_digest.__wrapped__(copy)
    assert before == judge_digest()
    (copy / changed).write_bytes((copy / changed).read_bytes() + b"\n")
    assert judge_digest.__wrapped__(copy) != before


def test_a_task_and_a_cache_do_not(copy: Path) -> None:
    (copy / "tasks" / "scan" / "reference.py").write_text("")
    (copy / "sandbox" / "__pycache__").mkdir()
    (copy / "sandbox" / "__pycache__" / "base.cpython-311.pyc").write_bytes(b"1")
    assert judge_digest.__wrapped__(copy) == judge_digest()
