"""Small real stand-ins that ship with the product: an author with a script, and what a run of it needs.

They show nothing about a kernel or a model. They drive the graph in tests, examples and documentation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from agents.author import (
    Assignment,
    Author,
    Critique,
    Draft,
    Idea,
    Member,
    Memory,
    Proposal,
    Room,
    Selection,
    Specimen,
    Step,
)
from graph.context import Context, Limits
from graph.table_sandbox import TableSandbox
from records.artefacts import ArtefactStore
from records.evaluation import Evaluation
from records.experiment import Experiment, Run
from records.ledger import Ledger
from records.literature import Quotation
from tasks.task import Case, Task
from tasks.tolerance import Tolerance

Writer = Callable[[Step, Specimen], str | Draft]


class ScriptedAuthor:
    """Answers from functions; `asked` holds the questions so far, `repairs` those for a correction."""

    name = "scripted"
    can_begin = True
    reads = False

    def __init__(
        self,
        ideas: Callable[[int], Sequence[Idea]],
        writer: Writer,
        critic: Callable[[Step], Critique] = lambda step: Critique(True),
    ) -> None:
        """`ideas` gets the generation, `writer` the step (its number counts repairs) and the base."""
        self._ideas, self._writer, self._critic = ideas, writer, critic
        self.asked: list[tuple[str, Step]] = []
        self.repairs: list[tuple[Step, tuple[str, ...], Evaluation | None]] = []
        self.concerns: list[tuple[str, ...]] = []
        self.memories: list[Memory] = []

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """Select the fastest, with its parent for reference."""
        self.asked.append(("select", step))
        chosen = min(population, key=lambda m: m.geomean_us)
        return Selection(chosen.id, chosen.parent_id, "the fastest")

    def queries(self, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
        """One query: the task's title."""
        self.asked.append(("queries", step))
        return (work.task.title,)

    def plan(
        self, step: Step, work: Assignment, base: Specimen, literature: Sequence[Quotation], memory: Memory, room: Room
    ) -> Proposal:
        """Plan by the script's ideas for this generation."""
        self.asked.append(("plan", step))
        self.memories.append(memory)
        ideas = tuple(self._ideas(step.generation))
        return Proposal(tuple(idea.title for idea in ideas), ideas)

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
        """Write the script's text."""
        self.asked.append(("write", step))
        return self._draft(step, base)

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
        """Return the script's criticism."""
        self.asked.append(("critique", step))
        self.concerns.append(tuple(concerns))
        return self._critic(step)

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
        """Return the script's text for this number."""
        self.asked.append(("repair", step))
        self.repairs.append((step, tuple(remarks), evaluation))
        return self._draft(step, base)

    def _draft(self, step: Step, base: Specimen) -> Draft:
        draft = self._writer(step, base)
        return draft if isinstance(draft, Draft) else Draft(draft)


class ListedLiterature:
    """Literature that answers every query with the same passages."""

    def __init__(self, *passages: str) -> None:
        """Texts of passages."""
        self.passages = tuple(
            Quotation(_hash(text)[:12], "shelf", f"passage {n}", "", "a bookshelf", text)
            for n, text in enumerate(passages, 1)
        )

    def search(self, query: str, k: int, arch: str | None = None) -> tuple[Quotation, ...]:
        """Return the first k passages."""
        return self.passages[:k]


def table_task(folder: Path, *seeds: str) -> Task:
    """Build a task with one test and two benchmark cases and no mathematics, its seeds written into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = tuple(folder / ("seed.hip" if i == 0 else f"seed_{i}.hip") for i in range(len(seeds)))
    for path, text in zip(paths, seeds, strict=True):
        path.write_text(text, encoding="utf-8")
    return Task(
        name="table",
        title="A table of claims",
        description="Nothing is computed.",
        targets=("mi300x",),
        inputs=(),
        outputs=(),
        scalars=(),
        tests=(Case("n=4", {"n": 4}, 1),),
        benchmarks=(Case("n=64", {"n": 64}, 2, role="benchmark"), Case("n=256", {"n": 256}, 3, role="benchmark")),
        flops="n",
        bytes_moved="n",
        peak="fp32_vector",
        tolerance=Tolerance(2.0),
        folder=folder,
        digest=_hash("\0".join(seeds)),
        seeds=paths,
        make_inputs=lambda case, rng: {},
        reference=lambda inputs, case: {},
        baseline=lambda inputs, case: {},
    )


def table_context(folder: Path, task: Task, author: Author, limits: Limits | None = None) -> Context:
    """Build a context on a run folder with a `TableSandbox`; give another collaborator by `dataclasses.replace`."""
    ledger = Ledger(folder / "ledger.db")
    return Context(
        run=Run("table-run", task.name, "mi300x", "lab", author.name, seed=7),
        assignment=Assignment(task, "a GPU that is a table", "mi300x", "gfx942", 7),
        author=author,
        sandbox=TableSandbox(),
        literature=ListedLiterature("A passage."),
        ledger=ledger,
        artefacts=ArtefactStore(folder / "artefacts", ledger),
        limits=Limits() if limits is None else limits,
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
