"""Every message is replaced by another text, and everything that is decided stays the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from records.evaluation import CODES, FINDING_KINDS
from records.experiment import Pause
from tests.support.reworded import MARK, ROOT

PLAIN = "from tests.support.decisions import main; main({folder!r})"
REWORDED = f"from tests.support.reworded import install; install(); {PLAIN}"
MEASURED = {"below_roofline", "nondeterministic", "timeout", "stack_overflow", "divergent_barrier"}


def started(program: str, folder: Path) -> subprocess.Popen[bytes]:
    folder.mkdir()
    code = program.format(folder=str(folder))
    environment = {**os.environ, "KERNEL_SCIENTIST_RUNS_FOLDER": str(folder / "none")}
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment, stdout=-1, stderr=-1)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("decisions")
    children = started(PLAIN, folder / "plain"), started(REWORDED, folder / "reworded")
    said = [child.communicate(timeout=300) for child in children]
    for child, (_, errors) in zip(children, said, strict=True):
        assert child.returncode == 0, errors.decode()[-4000:]
    plain, reworded = (json.loads(output) for output, _ in said)
    return plain, reworded


def test_other_messages_change_no_decision(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    plain, reworded = both
    for part, rows in plain.items():
        assert list(rows) == list(reworded[part])
        for name, (decided, _) in rows.items():
            assert decided == reworded[part][name][0], (part, name)


def test_every_message_was_another_text(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    plain, reworded = both
    for part, rows in plain.items():
        for name, (_, messages) in rows.items():
            others = reworded[part][name][1]
            assert len(messages) == len(others), (part, name)
            for message, other in zip(messages, others, strict=True):
                assert MARK not in message
                assert not message or MARK in other, (part, name, message, other)


def test_every_code_and_every_pause_is_among_the_decisions(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    text = json.dumps({part: [decided for decided, _ in rows.values()] for part, rows in both[0].items()})
    assert [code for code in CODES if f'"{code}"' not in text] == []
    assert [pause for pause in get_args(Pause) if f'"{pause}"' not in text] == []
    assert {kind for kind in FINDING_KINDS if f'"{kind}"' not in text} <= MEASURED
