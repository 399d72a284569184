"""A candidate: one file, its launch plan in TOML in the first comment, device code in the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.candidate.language import Language

FILL, COPY = "ks_fill", "ks_copy"  # kernels of the judge's own, see instances.py
CONTENTS, VALUE = "ks_contents", "ks_value"  # templates of the judge's own that write a device variable
Argument = str | tuple["Argument", ...]  # a text that arguments.py reads; several for a struct


@dataclass(frozen=True)
class Loop:
    """`for NAME in range(START, STOP, STEP)` around launches that stand beside each other and have the same one."""

    name: str
    start: str
    stop: str
    step: str
    number: int  # of the loop in its plan


@dataclass(frozen=True)
class MetaParameters:
    """Values for Triton's compiler beside the arguments of a launch, each as the plan has it."""

    constants: tuple[tuple[str, str], ...] = ()  # values by parameter; those declared `tl.constexpr`, or any other
    options: tuple[tuple[str, str], ...] = ()  # expressions by option: num_warps, num_stages, ...
    specialised: tuple[str, ...] = ()  # arguments, as written, whose value may choose the code as in Triton's launch


@dataclass(frozen=True)
class Launch:
    """One step: a kernel launch, a fill or a copy; every size is an expression over dims, tunables and loops."""

    kernel: str  # a function's name, an instantiation of a template, FILL or COPY
    grid: tuple[str, ...]  # 1 to 3 expressions
    block: tuple[str, ...]  # 1 to 3 expressions
    lds: str  # dynamic LDS, bytes
    args: tuple[Argument, ...]  # names and expressions; "rows:i64" for a 64-bit dim
    line: int = field(compare=False)  # of [[launch]] in the file
    loops: tuple[Loop, ...] = ()  # around it, the first outside
    when: str = ""  # a condition; empty: always
    table: int = field(default=0, compare=False)  # number of its [[launch]], from 0
    cooperative: bool = False  # all its workgroups run at once, so that they can wait for each other
    meta: MetaParameters | None = None  # of a kernel of Triton's

    @property
    def structs(self) -> int:
        """Bit i is set where argument i is a struct."""
        return sum(1 << i for i, argument in enumerate(self.args) if isinstance(argument, tuple))

    @property
    def is_step(self) -> bool:
        """True for a fill or a copy."""
        return self.kernel in (FILL, COPY)

    @property
    def writes_variable(self) -> bool:
        """True where a kernel of the judge's gives a device variable what its one argument holds."""
        return self.kernel.startswith((f"{CONTENTS}<", f"{VALUE}<"))


@dataclass(frozen=True)
class Workspace:
    """Scratch memory the plan asks for, not initialised."""

    name: str
    dtype: str
    shape: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """The declarative host side of a candidate. No candidate host code ever runs."""

    launches: tuple[Launch, ...]
    workspaces: tuple[Workspace, ...] = ()
    tunables: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # first value is the default
    constraints: Mapping[str, str] = field(default_factory=dict)
    requires: str = ""  # a condition on the dims: an arm of a table that is right where it holds; empty: everywhere
    nondeterministic: bool = False  # the same inputs may give other bits, all of them right: atomics in any order


@dataclass(frozen=True)
class PlanLines:
    """The line in the file of every key of a plan, for sentences about it."""

    first: int = 1  # of the plan itself
    lines: Mapping[tuple[str, int, str], int] = field(default_factory=dict)  # by section, launch and key

    def line(self, section: str, key: str = "", index: int = 0) -> int:
        """Find the key's line; else its section's; else the plan's."""
        for position in ((section, index, key), (section, index, ""), ("", 0, section)):
            if position in self.lines:
                return self.lines[position]
        return self.first


@dataclass(frozen=True)
class Candidate:
    """A parsed file. `id` is the SHA-256 of the normalised source."""

    id: str
    source: str
    plan: Plan
    lines: PlanLines = PlanLines()
    language: Language = "hip"

    def defaults(self) -> dict[str, int]:
        """Return the first value of every tunable."""
        return {name: values[0] for name, values in self.plan.tunables.items()}
