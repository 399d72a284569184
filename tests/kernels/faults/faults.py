"""Reads the corpus: every case is one text that gives a kernel with one fault and its honest twin.

A case starts with `//== NAME | OPTION=VALUE ...`. Lines that end in `//-` stand in the faulty kernel only, lines that
end in `//+` in the twin only; `// BUG: KIND` marks the line that must be reported (`~4`: within four lines).
Options: block, grid, lds, deadline, limits, covers; args=x,y,3; kernels=a:x,w;k:w,y; x, y, w give lengths. `a|b` is a
in the faulty kernel and b in its twin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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


@dataclass(frozen=True)
class Case:
    """One kernel; `kind` and `line` say what must be found in it, for a twin they are empty."""

    file: str
    name: str
    source: str
    options: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    line: int = 0
    slack: int = 0

    @property
    def id(self) -> str:
        return f"{self.file}: {self.name}{'' if self.kind else ' (twin)'}"


def cases() -> Iterator[tuple[Case, Case]]:
    """Every faulty kernel with its twin."""
    for path in sorted(FOLDER.glob("*.hip")):
        for text in path.read_text(encoding="utf-8").split("//== ")[1:]:
            head, _, body = text.partition("\n")
            name, _, options = (part.strip() for part in head.partition("|"))
            chosen = dict(option.split("=", 1) for option in re.split(r"\s+(?=\w+=)", options) if option)
            case = Case(path.stem, name, HEAD, chosen)
            yield _variant(case, body, "//-", "//+", 0), _variant(case, body, "//+", "//-", -1)


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
                kernel,
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
    program = build(case.source, plan.launches)
    assert isinstance(program, LabProgram), program
    numbers = {name: int(case.options.get(name, "1024")) for name in ("x", "y", "w")}
    values = np.random.default_rng(7).random(numbers["x"]).astype(np.float32)
    buffers = (
        Buffer("x", values, "input"),
        Buffer("y", np.zeros(numbers["y"], np.float32), "output"),
        Buffer("h", np.zeros(1024, np.float16), "output"),
        Buffer("w", np.zeros(numbers["w"], np.float32), "workspace"),
        Buffer("c", np.zeros(1, np.uint32), "workspace"),
    )
    done = lab().execute(ExecutionRequest(program, plan, buffers, deadline_s=float(case.options.get("deadline", "20"))))
    if done.findings or "covers" not in case.options:
        return done.findings
    return tuple(coverage(TensorSpec("y", "f32", ("n",)), done.written["y"], TaskCase("case", {}, 1)))


def _limits(case: Case, plan: ResolvedPlan) -> tuple[Finding, ...]:
    target = load_target("mi300x")
    text = Plan(tuple(Launch(x.kernel, ("1",), ("1",), "0", ("a",) * len(x.args), 1) for x in plan.launches))
    made = Compiler(toolchain(), COMPILED, target).compile(Candidate(case.id, case.source, text), {})
    return made.findings or tuple(check_limits(plan, target, made.kernels))


def is_found(case: Case, said: tuple[Finding, ...]) -> bool:
    """The kind, at the line; findings on a whole kernel name no line."""
    return any(f.kind == case.kind and (f.line is None or abs(f.line - case.line) <= case.slack) for f in said)
