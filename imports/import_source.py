"""What a task is made of: the text of a file, the function that is wanted, its sizes and cases."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from imports.foreign_text import BYTE_ORDER, parsed
from imports.refusal import ImportRefused
from records.errors import PlanError
from tasks.expressions import evaluate
from tasks.file_sizes import constants_of


@dataclass(frozen=True)
class Source:
    """The text of a file, the function that is wanted, and the inputs where the file does not draw any."""

    path: str
    text: str
    function: str  # empty: found
    specs: Mapping[str, tuple[str, tuple[str, ...], str]] = field(default_factory=dict)  # input: type, dims, limit
    sizes: Mapping[str, int] = field(default_factory=dict)  # dims of the specs
    numbers: Mapping[str, float] = field(default_factory=dict)  # parameters that are no tensors, real ones are scalars

    def constants(self) -> dict[str, int]:
        """Return the whole numbers that the file names or writes down, or that the inputs name."""
        if self.specs:
            return dict(self.sizes)
        return constants_of(self.tree())

    def scalars(self) -> Mapping[str, float]:
        """Return the real arguments that a caller chooses, with the values of the first case."""
        return {n: v for n, v in self.numbers.items() if isinstance(v, float)} if self.specs else {}

    def cases(self) -> Sequence[Mapping[str, float]]:
        """List the cases that the source lists, constants and scalars; none where its constants are the only one."""
        return ()

    def tests(self) -> Sequence[Mapping[str, float]]:
        """Small cases that the source lists; it may have none of its own."""
        return self.cases()

    def weights(self) -> Sequence[float]:
        """List the weights of the cases; none where all weigh the same."""
        return ()

    def gate(self) -> tuple[float, float] | None:
        """Return the relative and absolute tolerance that the source itself prescribes."""
        return None

    def limits(self) -> Mapping[str, int]:
        """Return the largest sizes that tests may have, where the source sets some."""
        return {}

    def original(self) -> str:
        """Return the text that is kept beside the task."""
        return self.text

    def arguments(self) -> Sequence[str]:
        """List the names of the values that a call is given, where their order matters to an export."""
        return ()

    def notes(self) -> Sequence[str]:
        """Sentences about what was left out."""
        return ()

    def tree(self) -> ast.Module:
        """Parse the text; ImportRefused for what is no Python."""
        return parsed("it", self.text)

    def specified(self, sizes: Mapping[str, int]) -> dict[str, tuple[str, list[int], int]]:
        """Return type, shape and limit of each input for these sizes; a limit of 0 is none."""
        return {
            name: (dtype, [length_of(n, sizes) for n in shape], length_of(limit, sizes) if limit else 0)
            for name, (dtype, shape, limit) in self.specs.items()
        }


def length_of(name: str, sizes: Mapping[str, int]) -> int:
    """Return the size of a dim, or what an expression of dims or a number in its place says."""
    try:
        return evaluate(name, sizes)
    except PlanError as error:
        raise ImportRefused(str(error)) from None


def asks_for_torch(kind: str, text: str) -> bool:
    """Tell whether a source is one of PyTorch: of a form that is, or a text that imports it."""
    if kind not in ("file", "kernel"):
        return True
    try:
        nodes = [*ast.walk(ast.parse(text.removeprefix(BYTE_ORDER)))]
    except (SyntaxError, ValueError, RecursionError):
        return False
    packages = {a.name.partition(".")[0] for n in nodes if isinstance(n, ast.Import) for a in n.names}
    packages |= {(n.module or "").partition(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)}
    return "torch" in packages
