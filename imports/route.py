"""What the making of a task asks of a source's kind: PyTorch's route, or NumPy's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from imports.graph import Graph
from imports.import_source import Source
from imports.refusal import FAULTS, ImportRefused, short
from imports.sizing import Sizing


@dataclass(frozen=True)
class Followed:
    """A function as it was followed: its graph, that of its inputs, and its real arguments."""

    graph: Graph  # without operations where they could not be followed
    drawn: Graph | None
    scalars: Mapping[str, float]
    unseeded: str = ""  # why no kernel can be generated of the graph


class Route(Protocol):
    """One way from a source to a task."""

    @property
    def source(self) -> Source:
        """The source."""

    @property
    def statement(self) -> str:
        """A sentence on what reference.py is."""

    def try_out(self, constants: Mapping[str, Any]) -> None:
        """Execute the function twice; one of FAULTS where it does not run, ImportRefused where it never can."""

    def followed(self, sizing: Sizing, original: Mapping[str, int]) -> Followed:
        """Follow its operations at several sizes; ImportUnfitted where others may do, ImportRefused where none can."""

    def unfollowed(self, sizing: Sizing, original: Mapping[str, int], reason: ImportRefused) -> Followed:
        """Return what is known without its operations; the reason is raised where that is not enough."""

    def seconds(self, sizing: Sizing, dims: Mapping[str, int]) -> float:
        """Measure how long one execution takes; 0 where the cost follows from its operations."""

    def unplanted(self, followed: Followed, sizing: Sizing) -> tuple[str, ...]:
        """Name the inputs that may hold no other values than are drawn: zeros, equal ones."""

    def reference_text(self, followed: Followed, sizing: Sizing, law: str, title: str) -> str:
        """Write reference.py, with inputs by one of the laws."""

    def said(self, law: str, followed: Followed) -> str:
        """Say in a sentence how the inputs are drawn."""


@dataclass
class Trials:
    """Runs of the function under some constants: True where it comes to its end."""

    route: Route
    original: Mapping[str, int]
    error: str = ""  # of the last run that failed
    has_run: bool = False

    def __call__(self, constants: Mapping[str, int]) -> bool:
        """Tell whether it runs; ImportRefused where it never can."""
        try:
            self.route.try_out({**self.original, **self.route.source.scalars(), **constants})
        except FAULTS as error:
            self.error = short(error)
            if isinstance(error, OSError):
                self.error += "; a file is imported without network and without files of yours"
            return False
        self.has_run = True
        return True


def refuse_other_shapes(shapes: Sequence[Sequence[Sequence[int]]]) -> None:
    """ImportRefused where a function's results had other shapes on its second call."""
    if list(map(tuple, shapes[0])) != list(map(tuple, shapes[1])):
        shape_text = ", then ".join(", ".join(map(str, tensor_shapes)) or "nothing" for tensor_shapes in shapes)
        raise ImportRefused(
            f"it returns other shapes on a second call ({shape_text}), so its result does not follow from its inputs"
        )
