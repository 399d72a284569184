"""The author that is a program: a coding agent that plans and writes by itself, in a folder with the bench's tools.

A generation is one session of it on the fastest kernel. What it checks are tries at the bench as any author's are; the
fastest right one is tuned and measured by the run. Nothing that it says of its kernels is believed.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.author import Assignment, Critique, Draft, Idea, Member, Memory, Proposal, Room, Selection, Specimen, Step
from agents.bench import Bench
from agents.coding_agent.host import AgentHost
from agents.coding_agent.work_session import SessionLimits, WorkSession
from records.errors import MalformedReply
from records.evaluation import Evaluation
from records.experiment import Experiment
from records.literature import Quotation

MOVE = "session"  # its own handle: nobody predicts what a session gains


class CodingAgent:
    """An Author by a program of the user's."""

    name = "command"
    can_begin = True
    reads = True

    def __init__(self, host: AgentHost, minutes: float, turns: int = 0) -> None:
        """Take the budget of one session: `turns` are calls of tools; 0: three for each try, and four."""
        self._host, self._limits = host, SessionLimits(minutes, turns)

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """Select the fastest, and the next of another strategy to learn from."""
        first, *others = sorted(population, key=lambda m: (m.geomean_us, m.id))
        reference = next((m for m in others if m.strategy != first.strategy), others[0] if others else None)
        return Selection(first.id, reference.id if reference else None, f"{first.id} is the fastest")

    def queries(self, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
        """None: it searches the notes itself, beside what is read on the costs of the kernel."""
        return ()

    def plan(
        self, step: Step, work: Assignment, base: Specimen, literature: Sequence[Quotation], memory: Memory, room: Room
    ) -> Proposal:
        """Plan one session: two would work in the same folder."""
        if room.run < 1:
            return Proposal((), ())
        lines = (*memory.lessons[:8], *memory.failures[:8])
        known = "\n".join(f"- {line}" for line in lines)
        words = "The program plans and writes by itself." + (f" What the run has learnt:\n{known}" if known else "")
        title = f"session {step.generation} of {self._host.program}"
        return Proposal((), (Idea(title, words, ("a faster kernel",), 0.0, 0.0, 50.0, move=MOVE),))

    def experiment(
        self,
        step: Step,
        work: Assignment,
        experiment: Experiment,
        idea: Idea,
        base: Specimen,
        reference: Specimen | None,
        literature: Sequence[Quotation],
        bench: Bench,
    ) -> Draft:
        """Have the program work; MalformedReply where it checked no kernel."""
        return WorkSession(self._host, self._limits, work, experiment, base, reference, bench).work(literature)

    def write(
        self,
        step: Step,
        work: Assignment,
        experiment: Experiment,
        idea: Idea,
        base: Specimen,
        reference: Specimen | None,
        literature: Sequence[Quotation],
    ) -> Draft:
        """MalformedReply: without tries there is nothing that a program could submit."""
        raise MalformedReply("a program as author needs tries: give the run a limit of tries above 0")

    def critique(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        evaluation: Evaluation,
        concerns: Sequence[str],
        literature: Sequence[Quotation] = (),
    ) -> Critique:
        """Approve: its writer sees the same evidence."""
        return Critique(True)

    def repair(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        remarks: Sequence[str],
        evaluation: Evaluation | None,
        literature: Sequence[Quotation] = (),
    ) -> Draft:
        """MalformedReply: it repairs its kernels in the session that writes them."""
        raise MalformedReply("the program has ended, and repairs nothing afterwards")
