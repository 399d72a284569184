"""One run of the whole graph with an author that follows a script and a sandbox that believes comments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.author import Draft, Idea, Specimen, Step
from graph import Context, Limits
from graph.doubles import ScriptedAuthor, TableSandbox, table_context, table_task
from graph.drive import drive
from records.experiment import Attempt, Run
from records.mechanism import MECHANISMS

SEED = "// time_us = 100\n// roofline_us = 5\n"
Writer = Callable[[Step, Specimen], str | Draft]


def ideas(generation: int) -> Sequence[Idea]:
    return [
        Idea(f"idea {generation}.{i}", "try it", ("change it",), i, max(1, 10 * i), 50 - i, mechanism=MECHANISMS[i])
        for i in range(5)
    ]


def faster(step: Step, base: Specimen) -> str:
    return f"// time_us = {100 / (1 + step.generation) - int(step.experiment_id[-1])}\n// roofline_us = 1\n"


def host_code_beside(source: str) -> str:
    """Put a plan before a kernel and a call of the host behind it, which no compiler minds and the critic is told."""
    plan = '/*+++\n[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [64]\nargs = ["y"]\n+++*/\n'
    return f'{plan}{source}extern "C" __global__ void k(float* y) {{}}\nhipMemcpyAsync();\n'


class Bench:
    """One run and what became of it."""

    def __init__(
        self,
        folder: Path,
        writer: Writer = faster,
        *seeds: str,
        critic: Any = None,
        planner: Any = ideas,
        **limits: Any,
    ) -> None:
        script = {"critic": critic} if critic else {}
        self.author = ScriptedAuthor(planner, writer, **script)
        self.folder = folder
        self.context: Context = table_context(
            folder,
            table_task(folder / "task", *(seeds or (SEED,))),
            self.author,
            Limits(**({"generations": 1, "picks": 2} | limits)),
        )
        self.told: list[Mapping[str, Any]] = []

    @property
    def sandbox(self) -> TableSandbox:
        assert isinstance(self.context.sandbox, TableSandbox)
        return self.context.sandbox

    def drive(self) -> Run:
        return drive(self.context, self.folder / "checkpoint.db", self.told.append)

    def attempts(self) -> dict[str, Attempt]:
        return {a.id: a for a in self.context.ledger.attempts(self.context.run.id)}

    def statuses(self, prefix: str = "g001") -> dict[str, str]:
        return {name: a.status for name, a in self.attempts().items() if name.startswith(prefix)}

    def did(self, purpose: str) -> int:
        return sum(p == purpose for p, _ in self.sandbox.calls)


def only_first(text: str, until: int = 1) -> Writer:
    """The first experiment's drafts below `until` say `text`; everything else works."""

    def writer(step: Step, base: Specimen) -> str:
        refused = step.experiment_id == "g001-e1" and step.number < until
        return f"// draft {step.number}\n{text}\n" if refused else faster(step, base)

    return writer
