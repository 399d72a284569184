"""The fit of a launch plan to a task: names, arguments, outputs, expressions, constraints."""

from __future__ import annotations

from collections.abc import Mapping

from records.errors import PlanError
from sandbox.candidate.arguments import words_of
from sandbox.candidate.meta_values import words_of_meta
from sandbox.candidate.parse import listing
from sandbox.candidate.plan import COPY, Candidate, Launch, MetaParameters, PlanLines
from sandbox.candidate.plan_turns import turns
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
    _check_initials(candidate, task, lines)
    inputs = frozenset(t.name for t in task.inputs)
    _check_names(candidate, inputs, frozenset(buffers), frozenset((*dims, *scalars)), lines)
    reached = {name for launch in plan.launches for argument in launch.args for name in words_of(argument)}
    for output in task.outputs:
        if output.name not in reached:
            raise PlanError(f"no launch takes the output {output.name!r} as an argument", lines.line("launch"))
    _check_expressions(candidate, task, lines, frozenset(dims))
    _check_default(candidate, task, lines)


def _check_initials(candidate: Candidate, task: Task, lines: PlanLines) -> None:
    """Refuse an input by its name where an output holds its values before the launch."""
    for launch in candidate.plan.launches if task.initials else ():
        for name in (name for argument in launch.args for name in words_of(argument) if name in task.initials):
            raise PlanError(
                f"launch {launch.table + 1}: args names {name!r}, whose values the output {task.initials[name]!r} "
                f"holds before the launch; name {task.initials[name]!r} in its place",
                lines.line("launch", "args", launch.table),
            )


def _check_names(
    candidate: Candidate, inputs: frozenset[str], buffers: frozenset[str], values: frozenset[str], lines: PlanLines
) -> None:
    """Refuse names that no argument, fill, copy or loop may have."""
    plan = candidate.plan
    for launch in plan.launches:
        loops = [loop.name for loop in launch.loops]
        for name in loops:
            if loops.count(name) > 1 or name in values or name in buffers or name in plan.tunables:
                raise PlanError(f"the loop's name {name!r} is taken; choose another", launch.line)
        if launch.is_step:
            for buffer in launch.args[: 1 + (launch.kernel == COPY)]:
                if buffer not in buffers:
                    raise PlanError(f"fill and copy name buffers, and {buffer!r} is none", launch.line)
            if launch.args[0] in inputs:
                raise PlanError(f"an input may not change, and {launch.args[0]!r} is one; use a workspace", launch.line)
            continue
        known_names = {*buffers, *values, *loops, *plan.tunables}
        if launch.meta:
            _check_meta(launch, launch.meta, frozenset(known_names - buffers), lines)
        for argument in launch.args:
            line = launch.line if launch.writes_variable else lines.line("launch", "args", launch.table)
            try:
                unknown = [name for name in words_of(argument) if name not in known_names]
            except PlanError as error:
                raise PlanError(f"launch {launch.table + 1}: {error}", line) from None
            for name in unknown:
                key = "symbol" if launch.writes_variable else "args"
                raise PlanError(
                    f"launch {launch.table + 1}: {key} names {name!r}, which is no input, output, workspace, dim, "
                    f"scalar, tunable or loop; known are {listing(sorted(known_names))}",
                    line,
                )


def _check_meta(launch: Launch, meta: MetaParameters, known_names: frozenset[str], lines: PlanLines) -> None:
    line = lines.line("launch", "constants", launch.table)
    try:
        unknown = [(key, name) for key, name in words_of_meta(meta) if name not in known_names]
    except PlanError as error:
        raise PlanError(f"launch {launch.table + 1}: {error}", line) from None
    for key, name in unknown:
        raise PlanError(
            f"launch {launch.table + 1}: {key} names {name!r}, which is no dim, scalar, tunable or loop; known are "
            f"{listing(known_names)}",
            lines.line("launch", key, launch.table),
        )


def _check_expressions(candidate: Candidate, task: Task, lines: PlanLines, dims: frozenset[str]) -> None:
    plan = candidate.plan
    expressions: list[tuple[str, str, int, tuple[str, ...]]] = [
        ("constraints", name, 0, (text,)) for name, text in plan.constraints.items()
    ]
    expressions += [("workspace", w.name, 0, w.shape) for w in plan.workspaces]
    known_names = dims | set(plan.tunables)
    case = (*task.tests, *task.benchmarks)[0]
    for section, key, index, texts in expressions:
        label = f"{section}: {key}"
        for text in texts:
            for name in sorted(names_in(text) - known_names):
                raise PlanError(
                    f"{label} uses the unknown name {name!r}; known are {listing(sorted(known_names))}",
                    lines.line(section, key, index),
                )
            try:
                evaluate(text, {**case.dims, **candidate.defaults()})
            except PlanError as error:
                raise PlanError(f"{label}: {error}", lines.line(section, key, index)) from None
    for launch in plan.launches:
        _check_sizes(launch, {**case.dims, **candidate.defaults()}, lines)
    for _ in turns(plan.launches, {**case.dims, **candidate.defaults()}):
        pass  # loops and conditions have values


def _check_sizes(launch: Launch, names: Mapping[str, int], lines: PlanLines) -> None:
    """Refuse sizes, loops and conditions that name what is not known, or that have no value at the first turns."""
    expressions = [("for", text) for loop in launch.loops for text in (loop.start, loop.stop, loop.step)]
    expressions += [("when", launch.when)] if launch.when else []
    expressions += [("grid", text) for text in launch.grid] + [("block", text) for text in launch.block]
    known_names = sorted({*names, *(loop.name for loop in launch.loops)})
    for key, text in [*expressions, ("lds", launch.lds)]:
        label, line = f"launch {launch.table + 1}: {key}", lines.line("launch", key, launch.table)
        for name in sorted(names_in(text) - set(known_names)):
            raise PlanError(f"{label} uses the unknown name {name!r}; known are {listing(known_names)}", line)
        if launch.loops:
            continue
        try:
            evaluate(text, names)
        except PlanError as error:
            raise PlanError(f"{label}: {error}", line) from None


def _check_default(candidate: Candidate, task: Task, lines: PlanLines) -> None:
    for name, text in candidate.plan.constraints.items():
        for case in (*task.tests, *task.benchmarks):
            if not evaluate(text, {**case.dims, **candidate.defaults()}):
                raise PlanError(
                    f"constraints: {name} does not hold for the default tunables on the case {case.name}",
                    lines.line("constraints", name),
                )
