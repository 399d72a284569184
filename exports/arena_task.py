"""A kernel as a task folder of AgentKernelArena, version 2: the file to improve, and a runner that asks our judge."""

from __future__ import annotations

import json

from exports.launcher import Launcher
from exports.provenance import Provenance, lines_of, spoken
from records.errors import UsageError
from sandbox.candidate.parse import listing
from sandbox.target import Target
from tasks.task import Case

KERNEL = "kernel.hip"
_RUNNER = '''\
"""The runner of this task: asks `kernel-scientist check` and prints one line of the protocol arena-eval-v1."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROLES, ACTIONS = ("baseline", "candidate"), ("compile", "correctness", "performance")
BEFORE_RUNNING = ("parse", "compile")  # stages of a verdict at which nothing has been executed


def verdict(known):
    """The judge's answer for the kernel file as it is now."""
    command = os.environ.get("KERNEL_SCIENTIST") or shutil.which("kernel-scientist")
    if not command:
        raise RuntimeError("kernel-scientist is not on the PATH: install GPU Kernel Scientist, or set KERNEL_SCIENTIST")
    words = [command, "check", str(ROOT / known["kernel"]), "--task", str(ROOT / "task")]
    words += ["--target", known["target"], "--on", known["on"], "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1 is a rejected kernel
        said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        raise RuntimeError(said[-1])
    return json.loads(done.stdout)


def case_of(row, found, accepted, action):
    """One case of the manifest with what the judge said of it."""
    made = {**row, "status": "PASS" if accepted and found and found["correct"] else "FAIL"}
    if made["status"] == "FAIL":
        made["reason"] = "the kernel is rejected" if found is None or found["correct"] else "the output is wrong"
        made["failure_kind"] = "correctness"
    elif action == "performance":
        made["execution_time_ms"] = found["time_us"] / 1000
        made["benchmark_method"] = "kernel_scientist_" + found["time_kind"]  # measured, or predicted by the lab
        made["metrics"] = {"time_kind": found["time_kind"]}
    return made


def evaluate(role, action, known):
    """The result for one action of one role."""
    result = {"protocol": "arena-eval-v1", "role": role, "action": action, "status": "PASS", "cases": []}
    if action == "validate-task":
        is_there = "/*+++" in (ROOT / known["kernel"]).read_text(encoding="utf-8")
        result["cases"] = [{**row, "status": "PASS"} for row in known["cases"]]
        result["metadata"] = {"candidate_state": "implemented" if is_there else "unimplemented"}
        return result
    made = verdict(known)
    said = [finding["message"] for finding in made["findings"]]
    if action == "compile":
        failed = not made["accepted"] and made["stage"] in BEFORE_RUNNING
    else:
        failed = not made["accepted"]
        found = {case["name"]: case for case in made["cases"]}
        rows = [row for row in known["cases"] if action in row["checks"]]
        found |= {case["name"]: case for case in made["cases"] if case["time_us"] is not None}
        result["cases"] = [case_of(row, found.get(row["params"]["name"]), made["accepted"], action) for row in rows]
        failed = failed or any(case["status"] == "FAIL" for case in result["cases"])
    result["metadata"] = {"code": made["code"], "stage": made["stage"], "findings": said[:20]}
    if failed:
        reason = said[0] if said else f"rejected at the stage {made['stage']}"
        result.update(status="FAIL", reason=reason, failure_kind=action)
    return result


def main(words):
    role, action = ("task", "validate-task")
    try:
        if words != ["validate-task"]:
            if len(words) != 2 or words[0] not in ROLES or words[1] not in ACTIONS:
                raise ValueError("use validate-task, or baseline|candidate compile|correctness|performance")
            role, action = words
        result = evaluate(role, action, json.loads((ROOT / "workloads.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        result = {"protocol": "arena-eval-v1", "role": role, "action": action, "status": "FAIL", "cases": []}
        result |= {"reason": str(error), "failure_kind": "execution"}
    print("ARENA_EVAL_RESULT=" + json.dumps(result, allow_nan=False, separators=(",", ":")))
    return 0 if result["status"] == "PASS" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''
_CONFIG = """\
schema_version: 2
description: {description}
candidate:
  language: hip
  editable:
    - kernel.hip
  entrypoints:
{entrypoints}
  initial_state: implemented
baseline:
  kind: initial_candidate
  correctness_policy: required
evaluation:
  runner: [python3, scripts/arena_eval.py]
  workloads: workloads.json
  timeout_s: 3600
platform_support:
  required_arch: [{arch}]
"""
_README = """\
# {title}

{said}

Edit `kernel.hip` alone: a launch plan in its first comment, then device code. `task/` has the statement and the
reference; the runner asks `kernel-scientist check`, which must be on the PATH (or named by `KERNEL_SCIENTIST`).
It judges {on}, on cases that are listed in `workloads.json` and on held-out ones that are listed nowhere.
{times}
"""


def arena_task(launcher: Launcher, target: Target, provenance: Provenance, source: str) -> dict[str, bytes]:
    """Write the files by path. UsageError for a target that is no AMD GPU."""
    if target.vendor != "amd":
        raise UsageError(f"AgentKernelArena runs on AMD's GPUs: export for mi300x, not for {target.name}")
    task, is_measured = launcher.task, provenance.time_kind == "measured"
    on = "device" if is_measured else "lab"
    workloads = {
        "kernel": KERNEL,
        "target": target.name,
        "on": on,
        "cases": [_case(launcher, case) for case in (*task.tests, *task.benchmarks)],
    }
    kernels = dict.fromkeys(name for name in launcher.kernels())
    entry = "\n".join(f"    - {{file: {KERNEL}, kind: kernel, symbol: {name}}}" for name in kernels)
    lines = lines_of(provenance)
    texts = {
        "config.yaml": _CONFIG.format(
            description=json.dumps(" ".join([f"{spoken(task.title)}.", *lines])), entrypoints=entry, arch=target.arch
        ),
        "workloads.json": json.dumps(workloads, indent=2) + "\n",
        "scripts/arena_eval.py": _RUNNER,
        KERNEL: source,
        "README.md": _README.format(
            title=spoken(task.title),
            said="\n\n".join(lines),
            on="on the GPU" if is_measured else "in the lab, which needs no GPU",
            times=""
            if is_measured
            else "Its times are predicted, never measured; `on` in `workloads.json` may say `device`.",
        ),
    }
    contents = {path: text.encode() for path, text in texts.items()}
    return contents | {f"task/{name}": (task.folder / name).read_bytes() for name in ("task.toml", "reference.py")}


def _case(launcher: Launcher, case: Case) -> dict[str, object]:
    task = launcher.task
    checks = ["correctness", "performance"] if case.role == "benchmark" else ["correctness"]
    return {
        "test_case_id": f"{case.role}/{case.name}",
        "shape": [list(task.shape_of(tensor, case)) for tensor in task.inputs],
        "dtype": listing([tensor.dtype for tensor in task.inputs]),
        "params": {"name": case.name, **case.dims},
        "checks": checks,
    }
