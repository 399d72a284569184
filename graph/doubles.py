"""Small real stand-ins that ship with the product: an author with a script, a sandbox that believes comments.

Neither shows anything about a kernel or a model. They drive the graph in tests, examples and documentation.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

from agents.author import Assignment, Author, Critique, Draft, Idea, Member, Memory, Proposal, Selection, Specimen, Step
from graph.context import Context, Limits
from records.artefacts import ArtefactStore
from records.codec import dumps
from records.errors import LabError
from records.evaluation import (
    CaseComparison,
    CaseResult,
    Comparison,
    Contender,
    Contrast,
    Evaluation,
    Finding,
    Measurement,
    Stage,
    TimeKind,
    Verdict,
    comparison_key,
)
from records.experiment import Experiment, Run
from records.ledger import Ledger
from tasks.task import Case, Task

Writer = Callable[[Step, Specimen], str | Draft]


class ScriptedAuthor:
    """Answers from functions; what it was asked is in `asked`, what it was told to mend in `repairs`."""

    name = "scripted"

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
        self.memories: list[Memory] = []

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """The fastest, with its parent for reference."""
        self.asked.append(("select", step))
        chosen = min(population, key=lambda m: m.geomean_us)
        return Selection(chosen.id, chosen.parent_id, "the fastest")

    def queries(self, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
        """One query: the task's title."""
        self.asked.append(("queries", step))
        return (work.task.title,)

    def plan(
        self, step: Step, work: Assignment, base: Specimen, literature: str, memory: Memory, limit: int
    ) -> Proposal:
        """The script's ideas for this generation."""
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
        literature: str,
    ) -> Draft:
        """The script's text."""
        self.asked.append(("write", step))
        return self._draft(step, base)

    def critique(self, step: Step, work: Assignment, idea: Idea, base: Specimen, draft: Draft) -> Critique:
        """The script's criticism."""
        self.asked.append(("critique", step))
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
    ) -> Draft:
        """The script's text for this number."""
        self.asked.append(("repair", step))
        self.repairs.append((step, tuple(remarks), evaluation))
        return self._draft(step, base)

    def _draft(self, step: Step, base: Specimen) -> Draft:
        made = self._writer(step, base)
        return made if isinstance(made, Draft) else Draft(made)


_LINE = re.compile(
    r"^\s*//\s*(?P<word>time_us|spread_us|true_us|roofline_us|tunable|fail|machine|code)\b(?:\[(?P<when>[^\]]*)\])?(?P<rest>.*)$",
    re.MULTILINE,
)


class TableSandbox:
    """Believes what a source says of itself, line by line.

    // time_us = 12.5               // time_us[ROWS=2] = 10          the last line that applies counts
    // tunable ROWS = 4, 1, 2       // roofline_us = 5
    // fail compile unknown name    // fail verify[ROWS=2] hang      stages: compile, verify, benchmark
    // code = abc                   the code object, for kernels that differ in text only
    // machine verify the lab is on fire                             raises LabError at that stage
    // spread_us = 0.5              // true_us = 12                  half an interval; what a comparison sees
    """

    version = "table 1"

    def __init__(self, device: str = "lab:table", kind: TimeKind = "predicted") -> None:
        """`device` is part of every key; `kind` is what the times are called."""
        self.device = device
        self.kind = kind
        self.calls: list[tuple[str, str]] = []  # purpose and key of all work done
        self._lock = threading.Lock()

    def key(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> str:
        """Hash of source, choice, task and device."""
        return _hash(dumps([source, self._chosen(source, tunables), task.digest, self.device]))

    def compile(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Fails where the source says `fail compile`."""
        return self._judge("compile", source, task, tunables, ("compile",))

    def verify(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Fails where the source says `fail compile` or `fail verify`."""
        return self._judge("verify", source, task, tunables, ("compile", "verify"))

    def benchmark(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Verifies, then gives every benchmark case the time the source claims."""
        return self._judge("benchmark", source, task, tunables, ("compile", "verify", "benchmark"))

    def estimate(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """The claimed time, unverified."""
        return self._judge("estimate", source, task, tunables, ("compile",))

    def choices(self, source: str, task: Task) -> tuple[Mapping[str, int], ...]:
        """The product of all `tunable` lines, defaults first."""
        declared = self._tunables(source)
        return tuple(dict(zip(declared, values, strict=True)) for values in product(*declared.values()))

    def compare(self, challenger: Contender, incumbent: Contender, task: Task) -> Comparison:
        """Compares what both say of their true time; half a per cent apart is a difference."""
        keys = [self.key(c.source, task, c.tunables) for c in (challenger, incumbent)]
        new, old = (self._number(c.source, c.tunables, "true_us", "time_us") for c in (challenger, incumbent))
        with self._lock:
            self.calls.append(("compare", comparison_key(*keys)))
        ratio = new / old
        verdict: Contrast = "faster" if ratio < 0.995 else "slower" if ratio > 1.005 else "same"
        cases = tuple(CaseComparison(c.name, ratio, ratio - 0.003, ratio + 0.003, verdict, 18) for c in task.benchmarks)
        return Comparison(
            comparison_key(*keys), keys[0], keys[1], verdict, ratio, ratio - 0.003, ratio + 0.003, cases, self.device
        )

    def _judge(
        self, purpose: str, source: str, task: Task, tunables: Mapping[str, int] | None, stages: tuple[str, ...]
    ) -> Evaluation:
        chosen = self._chosen(source, tunables)
        key = self.key(source, task, tunables)
        with self._lock:
            self.calls.append((purpose, key))
        for text in self._lines(source, "machine", chosen):
            if text.split()[0] == purpose:
                raise LabError(text.split(maxsplit=1)[1])
        code = next(iter(self._lines(source, "code", chosen)), source)
        plain = Evaluation(key, _hash(source), chosen, Verdict("compile", True, "OK"), code_object=_hash(code))
        for stage in stages:
            for text in self._lines(source, "fail", chosen):
                if text.split()[0] == stage:
                    return _refused(plain, stage, " ".join(text.split()[1:]) or stage, task)
        cases = tuple(CaseResult(c.name, c.role, True, 0.5) for c in task.tests) if "verify" in stages else ()
        if purpose in ("compile", "verify"):
            return _with_cases(plain, Verdict("compile" if purpose == "compile" else "correct", True, "OK"), cases, ())
        floor, spread = (self._number(source, chosen, w, default=0.0) for w in ("roofline_us", "spread_us"))
        time_us = self._number(source, chosen, "time_us")
        rows = tuple(
            Measurement(
                c.name,
                time_us,
                self.kind,
                self.device,
                time_us - spread,
                time_us + spread,
                weight=c.weight,
                bound="table",
                roofline_us=floor,
            )
            for c in task.benchmarks
        )
        return _with_cases(plain, Verdict("time", True, "OK"), cases, rows)

    def _lines(self, source: str, word: str, chosen: Mapping[str, int]) -> list[str]:
        """What follows a word on the lines whose condition the choice meets."""
        found = []
        for match in _LINE.finditer(source):
            rest, when = match["rest"], match["when"]
            if word == "fail" and (inner := re.match(r"\s*(\w+)\[([^\]]*)\](.*)", rest)):
                rest, when = f"{inner[1]}{inner[3]}", inner[2]
            if match["word"] == word and _applies(when, chosen):
                found.append(rest.strip().removeprefix("=").strip())
        return found

    def _number(self, source: str, tunables: Mapping[str, int] | None, *words: str, default: float = math.nan) -> float:
        """What the last line with the first of these words says that there is."""
        chosen = self._chosen(source, tunables)
        return next((float(found[-1]) for word in words if (found := self._lines(source, word, chosen))), default)

    def _tunables(self, source: str) -> dict[str, list[int]]:
        pairs = (text.split("=") for text in self._lines(source, "tunable", {}))
        return {name.strip(): [int(v) for v in values.split(",")] for name, values in pairs}

    def _chosen(self, source: str, tunables: Mapping[str, int] | None) -> dict[str, int]:
        return {name: values[0] for name, values in self._tunables(source).items()} | dict(tunables or {})


class Bookshelf:
    """Literature that answers every query with the same passages."""

    def __init__(self, *passages: str) -> None:
        """Whole passages, ready for a prompt."""
        self.passages = passages

    def search(self, query: str, k: int, arch: str | None = None) -> tuple[str, ...]:
        """The first k passages."""
        return self.passages[:k]


def table_task(folder: Path, *seeds: str) -> Task:
    """A task with one test and two benchmark cases and no mathematics, its seeds written into the folder."""
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
        ratio=2.0,
        folder=folder,
        digest=_hash("\0".join(seeds)),
        seeds=paths,
        make_inputs=lambda case, rng: {},
        reference=lambda inputs, case: {},
        baseline=lambda inputs, case: {},
    )


def table_context(folder: Path, task: Task, author: Author, limits: Limits | None = None) -> Context:
    """A context on a run folder with a `TableSandbox`; give another collaborator by `dataclasses.replace`."""
    return Context(
        run=Run("table-run", task.name, "mi300x", "lab", author.name, seed=7),
        assignment=Assignment(task, "a GPU that is a table", "mi300x", "gfx942", 7),
        author=author,
        sandbox=TableSandbox(),
        literature=Bookshelf("A passage."),
        ledger=Ledger(folder / "ledger.db"),
        artefacts=ArtefactStore(folder / "artefacts"),
        limits=limits or Limits(),
    )


def _applies(when: str | None, chosen: Mapping[str, int]) -> bool:
    pairs = (pair.split("=") for pair in (when or "").split(",") if pair)
    return all(chosen.get(name.strip()) == int(value) for name, value in pairs)


def _refused(plain: Evaluation, stage: str, text: str, task: Task) -> Evaluation:
    hangs = text == "hang"
    kind = "compile_error" if stage == "compile" else "timeout" if hangs else "wrong_result"
    code = "A.1" if stage == "compile" else "B.5" if hangs else "C.1"
    at: Stage = "compile" if stage == "compile" else "execute" if hangs else "correct"
    finding = Finding(kind, "the kernel did not end in time" if hangs else text, line=1)
    cases = () if stage == "compile" else (CaseResult(task.tests[0].name, "test", False, message=text),)
    return _with_cases(plain, Verdict(at, False, code, (finding,)), cases, ())


def _with_cases(
    plain: Evaluation, verdict: Verdict, cases: tuple[CaseResult, ...], rows: tuple[Measurement, ...]
) -> Evaluation:
    return Evaluation(
        plain.key,
        plain.candidate_id,
        plain.tunables,
        verdict,
        cases=cases,
        measurements=rows,
        code_object=plain.code_object,
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
