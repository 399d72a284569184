"""Times that the lab of one checkout predicts, for kernels asked for by lines of JSON: `clock_winners` starts it.

It runs as a file, with the checkout's packages on the path, so that two states of the clock are asked in the same way:
`PYTHONPATH=CHECKOUT python -P benchmarks/clock_estimates.py CACHE COMPILER`. A line asks for `task` (a shipped one's
name, or a folder), `source` and `choice` of the tunables; the answer's `time_us` is the geometric mean over the task's
benchmark cases, and its `rank_us` orders what is equal otherwise. Both are null for a kernel that is refused, whose
`message` says why.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target
from tasks.loader import load_task

TARGET = "mi300x"
load = cache(load_task)


def main(folder: str, compiler: str) -> int:
    """Answer every line of the standard input, in order."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    evaluator = LabEvaluator(find_toolchain(Path(compiler)), Path(folder), load_target(TARGET), seed=0)
    for line in sys.stdin:
        request = json.loads(line)
        evaluation = evaluator.estimate(
            evaluator.prepare(request["source"], load(request["task"], TARGET), request["choice"])
        )
        accepted = evaluation.verdict.accepted
        answer = {
            "time_us": evaluation.geomean_us if accepted else None,
            "rank_us": evaluation.rank_us if accepted else None,
            "message": "" if accepted else evaluation.verdict.findings[0].message,
        }
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
