"""The fit of a launch plan to a task: names, arguments, outputs, expressions, constraints."""

from __future__ import annotations

from records.errors import PlanError
from sandbox.candidate.parse import listing
from sandbox.candidate.plan import Candidate, PlanLines
from tasks.expressions import evaluate, names_in
from tasks.task import Task


def check(candidate: Candidate, task: Task) -> None:
    """Refuse a plan that does not fit the task: unknown or clashing names, outputs no launch reaches, bad sizes."""
    plan, lines = candidate.plan, candidate.lines
    tensors = [t.name for t in (*task.inputs, *task.outputs)]
    dims = sorted({name for case in (*task.tests, *task.benchmarks) for name in case.dims})
    scalars = [s.name for s in task.scalars]
    for section, names in (("tunables", list(plan.tunables)), ("workspace", [w.name for w in plan.workspaces])):
        for name in names:
            if name in (*tensors, *dims, *scalars):
                raise PlanError(f"{section}: {name!r} is already a name of the task", lines.line(section, name))
    buffers = {*tensors, *(w.name for w in plan.workspaces)} - set(task.initials)
    for index, launch in enumerate(plan.launches):
        for argument in launch.args:
            name, _, width = argument.partition(":")
            line = lines.line("launch", "args", index)
            if name in task.initials:
                raise PlanError(
                    f"launch {index + 1}: args names {name!r}, whose values the output {task.initials[name]!r} holds "
                    f"before the launch; name {task.initials[name]!r} in its place",
                    line,
                )
            if name not in buffers and name not in dims and name not in scalars and name not in plan.tunables:
                raise PlanError(
                    f"launch {index + 1}: args names {name!r}, which is no input, output, workspace, dim, "
                    f"scalar or tunable; known are {listing([*sorted(buffers), *dims, *scalars])}",
                    line,
                )
            if width and name not in dims and name not in plan.tunables:
                raise PlanError(
                    f"launch {index + 1}: {argument!r} asks for an integer width, but {name} is no dim and no tunable",
                    line,
                )
    reached = {a for launch in plan.launches for a in launch.args}
    for output in task.outputs:
        if output.name not in reached:
            raise PlanError(f"no launch takes the output {output.name!r} as an argument", lines.line("launch"))
    _check_expressions(candidate, task, lines, frozenset(dims))
    _check_default(candidate, task, lines)


def _check_expressions(candidate: Candidate, task: Task, lines: PlanLines, dims: frozenset[str]) -> None:
    plan = candidate.plan
    places: list[tuple[str, str, int, tuple[str, ...]]] = [
        ("constraints", name, 0, (text,)) for name, text in plan.constraints.items()
    ]
    places += [("workspace", w.name, 0, w.shape) for w in plan.workspaces]
    for index, launch in enumerate(plan.launches):
        places += [
            ("launch", "grid", index, launch.grid),
            ("launch", "block", index, launch.block),
            ("launch", "lds", index, (launch.lds,)),
        ]
    known = dims | set(plan.tunables)
    case = (*task.tests, *task.benchmarks)[0]
    for section, key, index, texts in places:
        place = f"launch {index + 1}: {key}" if section == "launch" else f"{section}: {key}"
        for text in texts:
            for name in sorted(names_in(text) - known):
                raise PlanError(
                    f"{place} uses the unknown name {name!r}; known are {listing(sorted(known))}",
                    lines.line(section, key, index),
                )
            try:
                evaluate(text, {**case.dims, **candidate.defaults()})
            except PlanError as error:
                raise PlanError(f"{place}: {error}", lines.line(section, key, index)) from None


def _check_default(candidate: Candidate, task: Task, lines: PlanLines) -> None:
    for name, text in candidate.plan.constraints.items():
        for case in (*task.tests, *task.benchmarks):
            if not evaluate(text, {**case.dims, **candidate.defaults()}):
                raise PlanError(
                    f"constraints: {name} does not hold for the default tunables on the case {case.name}",
                    lines.line("constraints", name),
                )
