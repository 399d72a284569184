"""Judge the public kernels of the list in the lab, as they stand and with their faults.

    python -m tests.kernels.real --from FOLDER [--only NAME ...] [--faults] [--show]

FOLDER holds the clones (`python -m tests.kernels.real.sources FOLDER` makes them). One line a kernel; at the end how
many were accepted, and how many faults were found at their line. The exit code is 1 where a row is not as it says.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from records.errors import ScientistError
from records.evaluation import Evaluation, Finding, Verdict
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab_evaluator import LabEvaluator
from tasks.loader import load_task
from tests.kernels.real.real import RealKernel, assemble, rows, task_folder
from tests.kernels.real.sources import Mirror
from tests.kernels.triton.executed import guest_lab
from tests.support.lab_bench import evaluator


def judge(lab: LabEvaluator, kernel: RealKernel, text: str) -> Verdict | str:
    """The verdict; a sentence where plan or task cannot be read."""
    try:
        task = load_task(task_folder(kernel.row), "mi300x")
        prepared = prepare(text, task)
        if prepared.refusal is not None:
            return prepared.refusal
        if prepared.candidate.language == "hip":
            return lab.benchmark(prepared).verdict
        begun = Evaluation("", prepared.id, prepared.tunables, Verdict("compile", True, "OK"))
        return guest_lab().verify(prepared, begun).verdict
    except ScientistError as error:
        return f"{type(error).__name__}: {error}"


def _said(verdict: Verdict | str) -> str:
    if isinstance(verdict, str):
        return verdict
    return "; ".join(_one(f) for f in verdict.findings[:3]) or "rejected without a finding"


def _one(finding: Finding) -> str:
    return f"{finding.kind}{f' line {finding.line}' if finding.line else ''}: {finding.message}"


def main(argv: list[str]) -> int:
    """Judge the chosen rows."""
    parser = argparse.ArgumentParser(prog="python -m tests.kernels.real")
    parser.add_argument("--from", dest="folder", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the candidates and judge nothing")
    chosen = parser.parse_args(argv)
    mirror, lab = Mirror(chosen.folder), evaluator(7)
    wanted = [row for row in rows() if not chosen.only or any(word in row.name for word in chosen.only)]
    kernels = [(row, assemble(row, mirror)) for row in wanted]
    accepted = found = faults = unexpected = 0
    for row, kernel in kernels:
        if kernel is None:
            print(f"absent    {row.name}: {row.repository} is not in {chosen.folder}")
            unexpected += 1
            continue
        if chosen.show:
            print(kernel.with_fault()[0] if chosen.faults and row.fault else kernel.text)
            continue
        started = time.monotonic()
        verdict = judge(lab, kernel, kernel.text)
        is_right = not isinstance(verdict, str) and verdict.accepted
        accepted += is_right
        unexpected += is_right == bool(row.refused)
        why = "" if is_right else f": {row.refused or _said(verdict)}"
        print(
            f"{'accepted' if is_right else 'refused ':9} {row.name} ({time.monotonic() - started:.1f} s){why}",
            flush=True,
        )
        if not (chosen.faults and row.fault and is_right):
            continue
        faults += 1
        text, lines = kernel.with_fault()
        verdict = judge(lab, kernel, text)
        is_found = (
            not isinstance(verdict, str) and not verdict.accepted and any(f.line in lines for f in verdict.findings)
        )
        found += is_found
        unexpected += not is_found
        print(
            f"{'found' if is_found else 'NOT FOUND':9} {row.name}: {_said(verdict)}; lines {sorted(lines)[:5]}",
            flush=True,
        )
    if not chosen.show:
        print(f"{accepted} of {len(kernels)} accepted; {found} of {faults} faults found at their line")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
