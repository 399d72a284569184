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
    made = operator("transpose")
    task = made.launcher.task
    for name, body in arena_task(made.launcher, load_target("mi300x"), KNOWN, "/*+++\n+++*/").items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(body)
    names = [case.name for case in (*task.tests, *task.benchmarks)]
    judge = path / "judge"
    judge.write_text(JUDGE.format(python=sys.executable, names=names, timed=[c.name for c in task.benchmarks]))
    judge.chmod(judge.stat().st_mode | stat.S_IXUSR)
    return path


def ask(place: Path, *words: str) -> tuple[int, dict[str, Any]]:
    env = {**os.environ, "KERNEL_SCIENTIST": str(place / "judge")}
    command = [sys.executable, str(place / "scripts" / "arena_eval.py"), *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == 1 and lines[0].startswith("ARENA_EVAL_RESULT="), done.stderr
    return done.returncode, json.loads(lines[0].partition("=")[2])


@pytest.mark.slow
def test_each_action_passes_on_what_the_judge_says(tmp_path: Path) -> None:
    place, task = folder(tmp_path), load_task("transpose", "mi300x")
    code, manifest = ask(place, "validate-task")
    assert code == 0 and manifest["metadata"]["candidate_state"] == "implemented"
    assert len(manifest["cases"]) == len(task.tests) + len(task.benchmarks)
    for role in ("baseline", "candidate"):
        code, timed = ask(place, role, "performance")
        assert (code, timed["status"], timed["role"]) == (0, "PASS", role)
        assert [case["execution_time_ms"] for case in timed["cases"]] == [0.005] * len(task.benchmarks)
        assert {case["benchmark_method"] for case in timed["cases"]} == {"kernel_scientist_predicted"}
    code, right = ask(place, "candidate", "correctness")
    assert code == 0 and len(right["cases"]) == len(manifest["cases"])
    (place / "kernel.hip").write_text("wrong", encoding="utf-8")
    code, wrong = ask(place, "candidate", "correctness")
    assert (code, wrong["status"], wrong["reason"]) == (1, "FAIL", "line 3 is off")
    assert {case["status"] for case in wrong["cases"]} == {"FAIL"}
    assert ask(place, "candidate", "performance")[1]["status"] == "FAIL"
    assert ask(place, "candidate", "compile")[0] == 0  # what compiles and is wrong


def test_faults_are_one_line_too(tmp_path: Path) -> None:
    place = folder(tmp_path)
    assert "use validate-task" in ask(place, "candidate", "fly")[1]["reason"]
    (place / "kernel.hip").write_text("machine", encoding="utf-8")
    code, told = ask(place, "candidate", "correctness")
    assert (code, told["failure_kind"], told["reason"]) == (1, "execution", "the machine has no compiler")


def test_the_chosen_tunables_become_the_defaults() -> None:
    task = load_task("row_softmax", "mi300x")
    text = next(path for path in task.seeds if "tunable" in path.name).read_text(encoding="utf-8")
    tunables = prepare(text, task).candidate.plan.tunables
    chosen = {name: values[-1] for name, values in tunables.items()}
    again = prepare(with_defaults(text, chosen), task)
    made = again.candidate.plan
    assert again.tunables == chosen
    assert {name: sorted(values) for name, values in made.tunables.items()} == {
        n: sorted(v) for n, v in tunables.items()
    }


def test_another_vendors_target_is_refused() -> None:
    with pytest.raises(UsageError, match="AMD"):
        arena_task(operator("transpose", "h200").launcher, load_target("h200"), KNOWN, "")
