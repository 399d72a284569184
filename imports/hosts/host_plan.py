"""The launch plan that a host half stands for: sizes, tensors, workspaces and steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from imports.hosts.values import DeviceBuffer, HostStep
from records.errors import PlanError
from tasks.expressions import evaluate, names_in


@dataclass(frozen=True)
class HostPlan:
    """All that was seen. Every expression is over `dims`."""

    dims: Mapping[str, int]  # sizes that may change, with the file's own values
    inputs: tuple[DeviceBuffer, ...]
    outputs: tuple[DeviceBuffer, ...]
    workspaces: tuple[DeviceBuffer, ...]
    steps: tuple[HostStep, ...]
    multiples: Mapping[str, int]
    reals: Mapping[str, float]  # floating-point numbers that kernels take, by name
    integers: Mapping[str, int]  # names of whole numbers with their values
    decisions: tuple[str, ...]
    sizeless: tuple[str, ...]  # sizes whose values nobody has said
    shapeless: tuple[str, ...]  # buffers whose extents nobody has said
    fixed: Mapping[str, int]  # sizes that cannot change
    other_sizes: Mapping[str, str] = field(default_factory=dict)  # sizes that follow from the dims

    def text(self, expression: str) -> str:
        """Write an expression over the dims; one without names is a number."""
        text = self.over_dims(expression)
        try:
            return text if names_in(text) else str(evaluate(text, {}))
        except PlanError:
            return text  # of real numbers

    def over_dims(self, text: str) -> str:
        """Put other expressions into the text for sizes that are no dims of the task."""

        def meant(match: re.Match[str]) -> str:
            name = match[0]
            if name in self.other_sizes:
                return f"({self.other_sizes[name]})"
            return str(self.integers[name]) if name in self.integers and name not in self.dims else name

        return re.sub(r"[A-Za-z_]\w*", meant, text)
