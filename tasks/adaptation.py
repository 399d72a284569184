"""What a task says differently for one target: other element types, and a note for those who write its kernels."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tasks.task import ScalarSpec, TensorSpec

BOUNDS = ("atol", "row_rtol")
Spec = TypeVar("Spec", TensorSpec, ScalarSpec)


@dataclass(frozen=True)
class Adaptation:
    """One `[target.NAME]` table of a task.toml."""

    dtypes: Mapping[str, str] = field(default_factory=dict)  # the type the file names, to the one this target has
    note: str = ""  # goes behind the description
    bounds: Mapping[str, float] = field(default_factory=dict)  # of the tolerance, where its hardware cannot keep them

    @property
    def mark(self) -> bytes:
        """What the digest of the task gets for this target; empty where it computes what the file says."""
        changes: dict[str, str | float] = {**self.dtypes, **self.bounds}
        return json.dumps(changes, sort_keys=True).encode() if changes else b""

    def typed(self, specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
        """The tensors or scalars with this target's types."""
        return tuple(replace(s, dtype=self.dtypes.get(s.dtype, s.dtype)) for s in specs)

    def described(self, text: str) -> str:
        """The description with this target's types, and the note behind it."""
        for old, new in self.dtypes.items():
            text = re.sub(rf"\b{old}\b", new, text)
        return f"{text}\n{self.note}" if self.note else text
