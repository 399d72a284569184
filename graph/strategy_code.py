"""The strategy code of a kernel that was judged: the source's part, then what its plan and its compiled code are.

    ...-T12-O4-R0: 2**12 output elements a block, 4 waves a SIMD, no spills

None of it is what an author says of a kernel.
"""

from __future__ import annotations

import math

from agents.strategy import UNKNOWN, strategy
from records.evaluation import Evaluation
from sandbox.candidate.prepare import Prepared


def strategy_code(prepared: Prepared, evaluation: Evaluation | None) -> str:
    """The code of this choice of tunables; `?` where the file has no readable plan."""
    code = strategy(prepared.tuned(prepared.tunables).source)
    if code == UNKNOWN:
        return code
    waves = min((r.waves_per_simd for r in evaluation.resources), default=0) if evaluation else 0
    spills = any(r.scratch_bytes for r in evaluation.resources) if evaluation else False
    return f"{code}-T{_tile(prepared)}-O{waves}-R{int(spills)}"


def _tile(prepared: Prepared) -> str:
    """The binary logarithm of the output elements a block makes on the last benchmark case, in its largest launch."""
    task = prepared.task
    if not task.benchmarks or not prepared.plans:
        return "?"
    case = task.benchmarks[-1]
    blocks = max((math.prod(launch.grid) for launch in prepared.plan(case).launches), default=1)
    elements = sum(math.prod(task.shape_of(output, case)) for output in task.outputs)
    return str(max(0, round(math.log2(max(1.0, elements / blocks)))))
