"""Every message is replaced by another text, and everything that is decided stays the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from records.code_meanings import CODES
from records.evaluation import FINDING_KINDS
from records.experiment import Pause
from tests.support.reworded import MARK, ROOT

PLAIN = "from tests.support.decisions import main; main({folder!r})"
REWORDED = f"from tests.support.reworded import install; install(); {PLAIN}"
MEASURED = {"below_roofline", "nondeterministic", "timeout", "stack_overflow", "divergent_barrier"}


def decided(program: str, folder: Path) -> Any:
    folder.mkdir()
    code = program.format(folder=str(folder))
    environment = {**os.environ, "KERNEL_SCIENTIST_RUNS_FOLDER": str(folder / "none")}
    words = [sys.executable, "-c", code]
    process = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, timeout=300, check=False)
    assert process.returncode == 0, process.stderr.decode()[-4000:]
    return json.loads(process.stdout)


@pytest.mark.long
def test_other_messages_change_no_decision(tmp_path: Path) -> None:
    """One test, because the decisions take seconds to make and test processes share no fixtures."""
    plain = decided(PLAIN, tmp_path / "plain")
    reworded = decided(REWORDED, tmp_path / "reworded")  # afterwards: it finds compiled what the other has compiled
    for part, rows in plain.items():
        assert list(rows) == list(reworded[part])
        for name, (decision, messages) in rows.items():
            assert decision == reworded[part][name][0], (part, name)
            check_messages(messages, reworded[part][name][1], (part, name))
    check_whole(json.dumps({part: [decision for decision, _ in rows.values()] for part, rows in plain.items()}))


def check_messages(plain: list[str], reworded: list[str], names: tuple[str, str]) -> None:
    """Every message was another text."""
    assert len(plain) == len(reworded), names
    for message, other in zip(plain, reworded, strict=True):
        assert MARK not in message
        assert not message or MARK in other, (names, message, other)


def check_whole(decisions: str) -> None:
    """Every code, every pause and every kind of finding that needs no measurement is among the decisions."""
    assert [code for code in CODES if f'"{code}"' not in decisions] == []
    older = {"budget"}  # of programs before runs ended at their limits
    assert {pause for pause in get_args(Pause) if f'"{pause}"' not in decisions} == older
    assert {kind for kind in FINDING_KINDS if f'"{kind}"' not in decisions} <= MEASURED
