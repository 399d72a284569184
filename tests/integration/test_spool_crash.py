"""Killed between any two steps of asking and answering, a run loses nothing and counts nothing twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


KINDS = {
    "before request",
    "after request",
    "before pause",
    "result read",
    "before answer",
    "before publish",
    "after publish",
    "before add_evaluation",
    "before add_comparison",
    "before checkpoint",
}
FEW = {"before request", "result read", "after publish", "before add_comparison"}


@pytest.mark.parametrize(
    ("stride", "kinds"),
    [pytest.param(3, FEW, marks=pytest.mark.slow, id="few"), pytest.param(1, KINDS, marks=pytest.mark.long, id="all")],
)
def test_kill_9_around_every_request_and_result_then_resume_gives_the_same_ledger(
    tmp_path: Path, stride: int, kinds: set[str]
) -> None:
    process = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("spool_crash_driver.py")), str(tmp_path / "runs"), str(stride)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    answer = json.loads(process.stdout)
    results: list[dict[str, Any]] = answer["results"]
    assert kinds <= {r["name"] for r in results}
    for r in results:
        moment = f"killed at point {r['at']}: {r['name']}"
        assert r["killed"], moment
        assert r["resumed"] == 0, f"{moment}: {process.stderr}"
        assert r["ledger"] == answer["whole"], moment
        assert r["repeated"] == [], moment
