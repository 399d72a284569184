"""The archive of a run: the fastest kernel of each strategy code, and how far the codes of late kernels are spread."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents.author import Member
from agents.strategy import UNKNOWN, strategy
from records.evaluation import Evaluation
from sandbox.candidate.prepare import Prepared

WINDOW = 12  # kernels that coverage looks at
ENOUGH = 6  # of them before an alarm means anything
NARROW = 1.5  # codes in effect: below, most late kernels are one and the same strategy


@dataclass
class Archive:
    """A cell for each code, and the codes of the last kernels that were accepted."""

    cells: dict[str, Member] = field(default_factory=dict)
    late: deque[str] = field(default_factory=lambda: deque(maxlen=WINDOW))

    def admit(self, member: Member, is_seed: bool) -> None:
        """Let the faster kernel keep the cell. Seeds are nobody's choice: they do not count as late."""
        incumbent = self.cells.get(member.strategy)
        if incumbent is None or member.geomean_us < incumbent.geomean_us:
            self.cells[member.strategy] = member
        if not is_seed:
            self.late.append(member.strategy)

    @property
    def spread(self) -> float:
        """Codes in effect among the late kernels: the exponential of their entropy; 0 of none."""
        counts = Counter(self.late)
        shares = [n / len(self.late) for n in counts.values()]
        return math.exp(-sum(p * math.log(p) for p in shares)) if shares else 0.0

    @property
    def is_narrow(self) -> bool:
        """True where the alarm is due."""
        return len(self.late) >= ENOUGH and self.spread < NARROW

    @property
    def alarm(self) -> str:
        """One line for the planner; empty where there is no alarm."""
        if not self.is_narrow:
            return ""
        code, count = Counter(self.late).most_common(1)[0]
        strategies = ", ".join(sorted(set(self.cells) - {code})[:6])
        return (
            f"coverage: {count} of the last {len(self.late)} kernels have one strategy, {code}; propose another one"
            + (f" (known besides: {strategies})" if strategies else "")
        )


def on_island(
    members: Sequence[Member], born: Mapping[str, int], generation: int, islands: int, migrate_every: int
) -> list[Member]:
    """List the kernels that this generation may build on: those of its island and the seeds; all when they migrate.

    Generations take turns on the islands; `born` is the generation of each kernel, 0 for a seed. Each island's turn
    number `migrate_every` sees all kernels.
    """
    if islands <= 1 or (migrate_every and (generation - 1) // islands % migrate_every == migrate_every - 1):
        return list(members)
    return [m for m in members if not born.get(m.id, 0) or born[m.id] % islands == generation % islands]


def strategy_code(prepared: Prepared, evaluation: Evaluation | None) -> str:
    """Return the code of this choice of tunables; `?` where the file has no readable plan.

    The source's part, then what its plan and its compiled code are: ...-T12-O4-R0 for 2**12 output elements a block,
    4 waves a SIMD, no spills. None of it is what an author says of a kernel.
    """
    code = strategy(prepared.tuned(prepared.tunables).source)
    if code == UNKNOWN:
        return code
    if code.startswith("B?"):  # a block that depends on the dims
        largest = max((launch.threads for plan in prepared.plans for launch in plan.launches), default=1)
        code = f"B{1 << (largest - 1).bit_length()}{code[2:]}"
    waves = min((r.waves_per_simd for r in evaluation.resources), default=0) if evaluation else 0
    spills = any(r.scratch_bytes for r in evaluation.resources) if evaluation else False
    return f"{code}-T{_tile(prepared)}-O{waves}-R{int(spills)}"


def _tile(prepared: Prepared) -> str:
    """Return the binary logarithm of a block's output elements on the last benchmark case, in its largest launch."""
    task = prepared.task
    if not task.benchmarks or not prepared.plans:
        return "?"
    case = task.benchmarks[-1]
    blocks = max((math.prod(launch.grid) for launch in prepared.plan(case).launches), default=1)
    elements = sum(math.prod(task.shape_of(output, case)) for output in task.outputs)
    return str(max(0, round(math.log2(max(1.0, elements / blocks)))))
