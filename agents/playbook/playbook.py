"""The author that needs no model: it searches declared tunables and a small set of meaning-preserving changes.

Everything follows from the arguments and the seed, so a resumed run gets the same answers. What has been tried is read
from the titles of earlier experiments, which carry the change and the fingerprint of the kernel it was made to.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping, Sequence

from agents.author import Assignment, Critique, Draft, Idea, Member, Memory, Proposal, Room, Selection, Specimen, Step
from agents.checks import check
from agents.playbook import moves
from agents.playbook.changes import promise, reserved_names
from agents.playbook.moves import BY_NAME
from agents.source import KernelFile, SourceError, read, with_plan
from records.errors import PlanError
from records.evaluation import Evaluation
from records.experiment import Experiment
from records.literature import Quotation
from records.ranking import ties
from tasks.expressions import evaluate
from tasks.task import Task

MOST_IDEAS = 5
EXPLORE = 0.25  # share of the generations that do not build on the fastest kernel
SEARCHED = 24  # combinations that one search covers; larger spaces are worth another start
_TAG = re.compile(r"\[([a-z_]+:[\w.+]+) on [0-9a-f]{8}\]")


class Playbook:
    """An Author of fixed rules; `seed` drives its few free choices, together with the place in the run."""

    name = "playbook"
    can_begin = False
    reads = False

    def __init__(self, seed: int = 0, explores: bool = False) -> None:
        """No state but the seed. Where the graph explores, it tries the book's changes, and none is planned beside."""
        self.seed = seed
        self._explores = explores

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """Select the fastest as base; now and then the fastest of another strategy, or any other kernel."""
        ranked = sorted(population, key=lambda m: (m.geomean_us, m.id))
        unexplored = [m for m in ranked if not m.is_explored]
        if self._explores:
            chosen = unexplored[0] if unexplored else ranked[0]
            return Selection(chosen.id, None, f"{chosen.id} is the fastest that was not explored")
        best, slower = ranked[0], ranked[1:]
        different = [m for m in slower if m.strategy != best.strategy] or slower
        dice = self._dice(step, "select")
        if slower and dice.random() < EXPLORE:
            base = dice.choice(different[:3])
            return Selection(base.id, best.id, f"{base.id} for a change: another way than the fastest, {best.id}")
        reference = different[0].id if different else None
        equal = sum(ties(best, other) for other in slower)
        among = f", equal to {equal} of them within the clock's error" if equal else ""
        return Selection(best.id, reference, f"{best.id} is the fastest of {len(ranked)}{among}")

    def queries(self, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
        """None: rules read no literature."""
        return ()

    def plan(
        self, step: Step, work: Assignment, base: Specimen, literature: Sequence[Quotation], memory: Memory, room: Room
    ) -> Proposal:
        """At most five changes that apply and were not tried on this kernel; none when the book is exhausted."""
        try:
            file = read(base.source)
        except SourceError:
            return Proposal((), ())
        if self._explores:
            return Proposal((), ())
        notes = (*memory.tried, *memory.failures, *memory.lessons, base.experiment.title)
        tried = {tag[0] for line in notes for tag in _TAG.finditer(line)}
        fresh = [h for h in self._handles(file, work, base) if _tag(h, file) not in tried]
        ranked = sorted(fresh, key=lambda h: (-self._worth(h, base), self._dice(step, h).random()))
        firsts = list({h.split(":")[0]: h for h in reversed(ranked)}.values())[::-1]
        order = [*firsts, *(h for h in ranked if h not in firsts)]
        ideas = tuple(_idea(h, file) for h in order[: min(MOST_IDEAS, max(0, room.run))])
        return Proposal(tuple(f"{move.title}: {move.why}" for move in moves.MOVES), ideas)

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
        """Apply the change; the base itself with a note when it does not apply."""
        return self._draft(base, work, _handle(idea), idea)

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
        """Report the findings of the mechanical checks in the draft that the base does not have."""
        before = {(r.kind, r.about) for r in check(base.source, work.arch)}
        draft_remarks = check(draft.source, work.arch)
        remarks = tuple(r.text for r in draft_remarks if (r.kind, r.about) not in before)
        return Critique(not remarks, remarks)

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
        """Another variant of the same change while there is one; then the base unchanged, and the note says so."""
        name = _handle(idea).split(":")[0]
        try:
            file = read(base.source)
        except SourceError:
            return Draft(base.source, (), ("the base cannot be read",))
        variants = [h for h in self._handles(file, work, base) if h.startswith(f"{name}:") and h != _handle(idea)]
        if step.number <= len(variants):
            return self._draft(base, work, variants[max(0, step.number - 1)], idea)
        return Draft(base.source, (), (f"{idea.title}: undone, because no variant of it works here",))

    def _draft(self, base: Specimen, work: Assignment, handle: str, idea: Idea) -> Draft:
        try:
            source = self._changed(base, work, handle)
        except SourceError as error:
            return Draft(base.source, (), (str(error),))
        return Draft(source, (*idea.rubric, f"applied {handle}"))

    def _changed(self, base: Specimen, work: Assignment, handle: str) -> str:
        file = read(base.source)
        if handle.startswith("search:"):
            start = _another_start(file, work.task, int(handle.split(":")[1]))
            return with_plan(file, {**file.plan, "tunables": start}) if start else base.source
        return moves.apply(base.source, handle, work.arch, reserved_names(work.task))

    def _handles(self, file: KernelFile, work: Assignment, base: Specimen) -> list[str]:
        """Every change that applies, the search of tunables first."""
        size = 1
        for values in file.tunables.values():
            size *= len(values)
        searches = [1, 2, 3] if size > SEARCHED else [1] if size > 1 and base.attempt.generation == 0 else []
        handles = [f"search:{n}" for n in searches if _another_start(file, work.task, n)]
        return [*handles, *moves.offers(file, work.arch, reserved_names(work.task))]

    def _worth(self, handle: str, base: Specimen) -> float:
        """Promise of a change on this kernel: its usual gain, and more when it relieves the resource that binds."""
        name = handle.split(":")[0]
        if name == "search":
            return 100.0 - int(handle.split(":")[1])
        return promise(name, base.evaluation)

    def _dice(self, step: Step, purpose: str) -> random.Random:
        return random.Random(f"{self.seed}:{step.generation}:{purpose}")


def _idea(handle: str, file: KernelFile) -> Idea:
    name, variant = handle.split(":")
    tag = _tag(handle, file)
    if name == "search":
        return Idea(
            f"search the declared tunables {tag}",
            "some combinations of the tunables were not tried",
            ("start the search of the tunables from another combination",),
            0.0,
            60.0,
            5.0,
            handle,
        )
    if name == "together":
        return Idea(
            f"several safe changes at once {tag}",
            "changes that are small alone may help each other",
            tuple(r for part in variant.split("+") for r in BY_NAME[part].rubric),
            0.0,
            30.0,
            20.0,
            handle,
        )
    move = BY_NAME[name]
    low, high = move.gain_pct
    return Idea(f"{move.title} {tag}", move.why, move.rubric, low, high, move.innovation, handle)


def _tag(handle: str, file: KernelFile) -> str:
    return f"[{handle} on {file.fingerprint}]"


def _handle(idea: Idea) -> str:
    """Name the change an idea stands for; from its title where only that was kept."""
    tag = _TAG.search(idea.title)
    return idea.move or (tag[1] if tag else "none:none")


def _another_start(file: KernelFile, task: Task, number: int) -> Mapping[str, list[int]]:
    """Find the tunables with another default that the constraints allow on every case; empty when there is none."""
    names = list(file.tunables)
    choices = list(itertools.islice(itertools.product(*(file.tunables[n] for n in names)), 4096))
    other_choices = choices[1:]
    random.Random(number).shuffle(other_choices)
    for choice in other_choices:
        values = dict(zip(names, choice, strict=True))
        if _allowed(file, task, values):
            return {n: [values[n], *(v for v in file.tunables[n] if v != values[n])] for n in names}
    return {}


def _allowed(file: KernelFile, task: Task, values: Mapping[str, int]) -> bool:
    try:
        return all(
            evaluate(str(rule), {**case.dims, **values})
            for rule in file.plan.get("constraints", {}).values()
            for case in (*task.tests, *task.benchmarks)
        )
    except PlanError:
        return False
