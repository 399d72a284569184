"""The bench of one experiment: the tools that an author works with while it writes, as the graph gives them.

An author that uses them is an `Experimenter`. What it checks is judged as any kernel is, and counts as a try; the rest
only looks. The graph records the fastest right try, whatever the author says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agents.author import Assignment, Draft, Idea, Specimen, Step
from records.evaluation import Evaluation
from records.experiment import AttemptStatus, Experiment
from records.literature import Quotation
from records.machine_code import InnerLoop


class BenchRefusal(ValueError):
    """A request that cannot be fulfilled; the message says what to ask for instead."""


@dataclass(frozen=True)
class BenchKernel:
    """A kernel that can be looked at: a try, an earlier kernel of the run, or one that was only estimated."""

    name: str
    source: str
    evaluation: Evaluation
    is_verified: bool = True


@dataclass(frozen=True)
class Checked:
    """One try and what became of it."""

    kernel: BenchKernel
    status: AttemptStatus  # tried where it is right
    reason: str = ""
    remarks: tuple[str, ...] = ()  # the critic's, where it was asked
    is_repeated: bool = False  # the same text was checked before, and nothing was spent
    literature: tuple[Quotation, ...] = ()  # on what is wrong with it


class Bench(Protocol):
    """The tools. All but `check` cost no try; each answers the same when it is asked again."""

    @property
    def tries_left(self) -> int:
        """Kernels that may still be checked."""

    @property
    def tries(self) -> tuple[Checked, ...]:
        """The tries so far, oldest first."""

    def resumed(self) -> tuple[Checked, ...]:
        """Take up what an earlier process of the run has tried in this experiment, at no cost; oldest first.

        For an author whose answers cannot be had again.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """The kernels that can be named: the parent, the reference, the tries, earlier kernels of the run."""

    @property
    def parent(self) -> BenchKernel | None:
        """The kernel that the experiment starts from; None for the first kernel of a task."""

    @property
    def best(self) -> Checked | None:
        """The fastest try that is right."""

    def check(self, source: str, tool: str, change: str = "") -> Checked:
        """Compile, verify and time a kernel; BenchRefusal when no try is left.

        `change` says in a line what is new since the kernel before.
        """

    def named(self, name: str) -> BenchKernel:
        """One kernel; BenchRefusal when there is none of that name."""

    def estimate(self, source: str) -> BenchKernel:
        """Compile a kernel and predict or measure its times without verifying it; BenchRefusal after too many."""

    def loops(self, kernel: BenchKernel) -> tuple[InnerLoop, ...]:
        """List the machine code's inner loops; BenchRefusal where this target shows none."""

    def search(self, query: str) -> tuple[Quotation, ...]:
        """Passages of the notes; those that this experiment has read before come without their text."""


@runtime_checkable
class Experimenter(Protocol):
    """An author that works at a bench."""

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
        """Write, check and submit; the draft returned holds the report of what was done. MalformedReply for none."""


def changed(source: str, old: str, new: str) -> str:
    """Return the source with one piece of text replaced; BenchRefusal where it does not stand there exactly once."""
    count = source.count(old) if old else 0
    if count != 1:
        raise BenchRefusal(f"the text to replace must stand in the kernel exactly once, and it does {count} times")
    return source.replace(old, new)
