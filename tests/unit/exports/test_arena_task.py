"""The folder for AgentKernelArena: the manifest is the task's cases, and the runner passes on the judge's verdict."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exports.arena_task import arena_task
from exports.kernel_text import with_defaults
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.exports import KNOWN, operator

JUDGE = """#!{python}
import json, pathlib, sys
text = pathlib.Path(sys.argv[2]).read_text()
assert sys.argv[1] == "check" and sys.argv[-1] == "--json" and (pathlib.Path(sys.argv[4]) / "task.toml").exists()
if "machine" in text:
    print("the machine has no compiler", file=sys.stderr)
    sys.exit(3)
wrong = "wrong" in text
names = {names}
cases = [dict(name=n, correct=not (wrong and n == names[0]), time_us=5.0 if n in {timed} and not wrong else None,
              time_kind="predicted") for n in names]
print(json.dumps(dict(accepted=not wrong, stage="correct" if wrong else "time", code="C.1" if wrong else "OK",
                      findings=[dict(message="line 3 is off")] if wrong else [], cases=cases)))
sys.exit(int(wrong))
"""


def folder(path: Path) -> Path:
    transpose = operator("transpose")
    task = transpose.launcher.task
    for name, body in arena_task(transpose.launcher, load_target("mi300x"), KNOWN, "/*+++\n+++*/").items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(body)
    names = [case.name for case in (*task.tests, *task.benchmarks)]
    judge = path / "judge"
    judge.write_text(JUDGE.format(python=sys.executable, names=names, timed=[c.name for c in task.benchmarks]))
    judge.chmod(judge.stat().st_mode | stat.S_IXUSR)
    return path


def ask(root: Path, *words: str) -> tuple[int, dict[str, Any]]:
    env = {**os.environ, "KERNEL_SCIENTIST": str(root / "judge")}
    command = [sys.executable, str(root / "scripts" / "arena_eval.py"), *words]
    process = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    lines = process.stdout.splitlines()
    assert len(lines) == 1 and lines[0].startswith("ARENA_EVAL_RESULT="), process.stderr
    return process.returncode, json.loads(lines[0].partition("=")[2])


@pytest.mark.slow
def test_each_action_passes_on_what_the_judge_says(tmp_path: Path) -> None:
    root, task = folder(tmp_path), load_task("transpose", "mi300x")
    code, manifest = ask(root, "validate-task")
    assert code == 0 and manifest["metadata"]["candidate_state"] == "implemented"
    assert len(manifest["cases"]) == len(task.tests) + len(task.benchmarks)
    for role in ("baseline", "candidate"):
        code, timed = ask(root, role, "performance")
        assert (code, timed["status"], timed["role"]) == (0, "PASS", role)
        assert [case["execution_time_ms"] for case in timed["cases"]] == [0.005] * len(task.benchmarks)
        assert {case["benchmark_method"] for case in timed["cases"]} == {"kernel_scientist_predicted"}
    code, right = ask(root, "candidate", "correctness")
    assert code == 0 and len(right["cases"]) == len(manifest["cases"])
    (root / "kernel.hip").write_text("wrong", encoding="utf-8")
    code, wrong = ask(root, "candidate", "correctness")
    assert (code, wrong["status"], wrong["reason"]) == (1, "FAIL", "line 3 is off")
    assert {case["status"] for case in wrong["cases"]} == {"FAIL"}
    assert ask(root, "candidate", "performance")[1]["status"] == "FAIL"
    assert ask(root, "candidate", "compile")[0] == 0  # what compiles and is wrong


def test_faults_are_one_line_too(tmp_path: Path) -> None:
    root = folder(tmp_path)
    assert "use validate-task" in ask(root, "candidate", "fly")[1]["reason"]
    (root / "kernel.hip").write_text("machine", encoding="utf-8")
    code, answer = ask(root, "candidate", "correctness")
    assert (code, answer["failure_kind"], answer["reason"]) == (1, "execution", "the machine has no compiler")


def test_the_chosen_tunables_become_the_defaults() -> None:
    task = load_task("row_softmax", "mi300x")
    text = next(path for path in task.seeds if "tunable" in path.name).read_text(encoding="utf-8")
    tunables = prepare(text, task).candidate.plan.tunables
    chosen = {name: values[-1] for name, values in tunables.items()}
    prepared = prepare(with_defaults(text, chosen), task)
    plan = prepared.candidate.plan
    assert prepared.tunables == chosen
    assert {name: sorted(values) for name, values in plan.tunables.items()} == {
        n: sorted(v) for n, v in tunables.items()
    }


def test_another_vendors_target_is_refused() -> None:
    with pytest.raises(UsageError, match="AMD"):
        arena_task(operator("transpose", "h200").launcher, load_target("h200"), KNOWN, "")
