"""The page and the figures of KernelBench's problems, from rows as a run writes them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.kernelbench import faulty, figures, known, page

RIGHT = {"level": 1, "number": 1, "name": "1_A", "digest": "a", "notes": [], "right": "OK", "wrong": ["C.2", "C.1"]}
WEAK = {**RIGHT, "number": 2, "name": "2_B", "wrong": ["OK", "C.1"]}
REFUSED = {"level": 2, "number": 3, "name": "3_C", "digest": "c", "refused": "it draws | random numbers"}


def test_the_last_row_of_a_problem_counts(tmp_path: Path) -> None:
    rows = [WEAK, REFUSED, {**RIGHT, "right": "C.3"}, RIGHT]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert known(tmp_path / "rows.jsonl") == [RIGHT, WEAK, REFUSED]


def test_a_wrong_kernel_that_passes_is_not_judged_rightly_and_a_refusal_is_counted() -> None:
    text = page([RIGHT, WEAK, REFUSED])
    assert "|1|2|2|1|0|" in text and "|2|1|0|0|1|" in text
    assert "the generated kernel has OK, the wrong ones OK, C.1" in text and "draws \\| random" in text
    assert [(f["figure"], f["value"], f["anchor_value"], f["met"]) for f in figures([RIGHT, WEAK])] == [
        ("kernelbench.level_1.judged", 1.0, 2.0, False)
    ]


def test_both_faults_change_the_last_kernel() -> None:
    seed = "    if (at_ >= n) return;\n    y[at_] = f(q_);\n    if (at_ >= m) return;\n    z[at_] = g(q_);\n"
    assert list(faulty(seed)) == [
        seed.replace("at_ >= m)", "at_ >= m - 1)"),
        seed.replace("z[at_] = g(q_);", "z[at_] = (g(q_)) + 1;"),
    ]


@pytest.mark.slow
def test_without_a_checkout_one_sentence_says_so(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "benchmarks.kernelbench", "--checkout", str(tmp_path)]
    process = subprocess.run(argv, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert process.returncode != 0 and "a clone of github.com/ScalingIntelligence/KernelBench" in process.stderr
    assert len(process.stderr.splitlines()) == 1
