"""Reads the corpus: every case is one text that gives a kernel with one fault and its honest twin.

A case starts with `//== NAME | OPTION=VALUE ...`. Lines that end in `//-` stand in the faulty kernel only, lines that
end in `//+` in the twin only; `// BUG: KIND` marks the line that must be reported (`~4`: within four lines).
Options: block, grid, lds, deadline, limits, covers; args=x,y,3; kernels=a:x,w;k:w,y; x, y, w, c give lengths. `a|b` is
a in the faulty kernel and b in its twin.

The kernels of a file are one program, each in a namespace and under a number of its own: a build costs as much as forty
executions. Alone stays what accesses LDS or a table outside of it, where another kernel's variable could lie, and what
is over a limit of the whole program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from records.evaluation import Finding
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.limits import check_limits
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.lab.lab import Buffer, ExecutionRequest, LabProgram
from sandbox.lab.lab_verify import coverage
from sandbox.target import load_target
from tasks.task import Case as TaskCase
from tasks.task import TensorSpec
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, build, lab, launch

FOLDER = Path(__file__).parent / "corpus"
_MARK = re.compile(r"// BUG: (\w+)(?: ~(\d+))?")
_KERNEL = re.compile(r"__global__[^;{(]*\bvoid\s+\w+(?=\s*\()")


@dataclass(frozen=True)
class Case:
    """One kernel; `kind` and `line` say what must be found in it, for a twin they are empty."""

    file: str
    name: str
    source: str  # of the program that it is in
    options: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    line: int = 0
    slack: int = 0
    suffix: str = ""  # of the names of its kernels in that program
    program: tuple[ResolvedLaunch, ...] = ()  # launches of all kernels of that program; its own where there are none

    @property
    def id(self) -> str:
        return f"{self.file}: {self.name}{'' if self.kind else ' (twin)'}"


def cases() -> Iterator[tuple[Case, Case]]:
    """Every faulty kernel with its twin."""
    for path in sorted(FOLDER.glob("*.hip")):
        yield from _together([_read(path.stem, text) for text in path.read_text(encoding="utf-8").split("//== ")[1:]])


def _together(pairs: Sequence[tuple[Case, Case]]) -> Iterator[tuple[Case, Case]]:
    """The pairs of a file, as parts of one program but for those that must be alone."""
    text, placed = HEAD, list[tuple[Case, ...]]()
    for number, pair in enumerate(pairs):
        parts = list[Case]()
        for case in pair:
            if _is_alone(pair[0]):
                parts.append(case)
                continue
            suffix = f"_{number}{'' if case.kind else '_twin'}"
            text += f"namespace c{suffix} {{\n"
            line = case.line and case.line - 1 + text.count("\n")  # 1: of the header
            text += _KERNEL.sub(rf"\g<0>{suffix}", case.source.removeprefix(HEAD)) + "\n}\n"
            parts.append(replace(case, line=line, suffix=suffix))
        placed.append(tuple(parts))
    program = tuple(launch for parts in placed for case in parts if case.suffix for launch in launches(case))
    for pair in placed:
        first, second = (replace(case, source=text, program=program) if case.suffix else case for case in pair)
        yield first, second


def _is_alone(faulty: Case) -> bool:
    is_outside = faulty.kind == "out_of_bounds" and re.search(r"__shared__|__constant__", faulty.source) is not None
    return is_outside or "limits" in faulty.options or faulty.kind in ("stack_overflow", "compile_error")


def _read(file: str, text: str) -> tuple[Case, Case]:
    head, _, body = text.partition("\n")
    name, _, options = (part.strip() for part in head.partition("|"))
    chosen = dict(option.split("=", 1) for option in re.split(r"\s+(?=\w+=)", options) if option)
    case = Case(file, name, HEAD, chosen)
    return _variant(case, body, "//-", "//+", 0), _variant(case, body, "//+", "//-", -1)


def _variant(case: Case, body: str, kept: str, dropped: str, choice: int) -> Case:
    lines = ["" if line.endswith(dropped) else line.removesuffix(kept).rstrip() for line in body.split("\n")]
    options = {
        key: value.split("|")[choice]
        if key not in ("args", "kernels")
        else ",".join(part.split("|")[choice] for part in value.split(","))
        for key, value in case.options.items()
    }
    found = [(number, mark) for number, line in enumerate(lines, 2) if (mark := _MARK.search(line))]
    made = replace(case, options=options, source=HEAD + "\n".join(_MARK.sub("", line) for line in lines))
    if choice:
        return made
    assert len(found) == 1, (case.id, found)
    number, mark = found[0]
    return replace(made, kind=mark[1], line=number, slack=int(mark[2] or 0))


def launches(case: Case) -> list[ResolvedLaunch]:
    """The case's launches, the kernel `k` with all arguments unless it says otherwise."""
    named = case.options.get("kernels", f"k:{case.options.get('args', 'x,y')}")
    numbers = {
        key: [int(v) for v in case.options.get(key, default).split(",")]
        for key, default in (("grid", "1"), ("block", "64"))
    }
    made = []
    for part in named.split(";"):
        kernel, _, args = part.partition(":")
        made.append(
            launch(
                kernel + case.suffix,
                [int(a) if a.isdigit() else a for a in args.split(",")],
                numbers["grid"],
                numbers["block"],
                int(case.options.get("lds", "0")),
            )
        )
    return made


def findings(case: Case) -> tuple[Finding, ...]:
    """What the lab says of the case, as the judge would: limits, execution, coverage."""
    plan = ResolvedPlan(tuple(launches(case)), {})
    if "limits" in case.options:
        return _limits(case, plan)
    program = build(case.source, case.program or plan.launches)
    if not isinstance(program, LabProgram):
        return tuple(program)
    numbers = {name: int(case.options.get(name, "1" if name == "c" else "1024")) for name in ("x", "y", "w", "c")}
    values = np.random.default_rng(7).random(numbers["x"]).astype(np.float32)
    buffers = (
        Buffer("x", values, "input"),
        Buffer("y", np.zeros(numbers["y"], np.float32), "output"),
        Buffer("h", np.zeros(1024, np.float16), "output"),
        Buffer("w", np.zeros(numbers["w"], np.float32), "workspace"),
        Buffer("c", np.zeros(numbers["c"], np.uint32), "workspace"),
    )
    done = lab().execute(ExecutionRequest(program, plan, buffers, deadline_s=float(case.options.get("deadline", "20"))))
    if done.findings or "covers" not in case.options:
        return done.findings
    return tuple(coverage(TensorSpec("y", "f32", ("n",)), done.masks["y"], TaskCase("case", {}, 1)))


def _limits(case: Case, plan: ResolvedPlan) -> tuple[Finding, ...]:
    target = load_target("mi300x")
    text = Plan(tuple(Launch(x.kernel, ("1",), ("1",), "0", ("a",) * len(x.args), 1) for x in plan.launches))
    made = Compiler(toolchain(), COMPILED, target).compile(Candidate(case.id, case.source, text), {})
    return made.findings or tuple(check_limits(plan, target, made.kernels))


def is_found(case: Case, said: tuple[Finding, ...]) -> bool:
    """The kind, at the line; findings on a whole kernel name no line."""
    return any(f.kind == case.kind and (f.line is None or abs(f.line - case.line) <= case.slack) for f in said)
