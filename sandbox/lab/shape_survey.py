"""A survey: many shapes of one plan, a few workgroups of each, and what each of them meets that known shapes do not.

What is met are outcomes of instructions: see machine/interpreter/coverage.h. It rests on no spelling of a decision. No
output is looked at: a shape that meets something new has still to be executed and compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from records.errors import NoAnswer
from records.outside_text import decoded
from sandbox.cage.output import read_output
from sandbox.candidate.plan import Launch
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.lab import executor_request
from sandbox.lab.executor_limits import executor_limits
from sandbox.lab.executor_request import Buffer, Work
from sandbox.lab.executor_result import NoResult
from sandbox.lab.explored_launches import ShapeExploration
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.stored_inputs import PAGE, Stored
from sandbox.machine.machine_program import InstructionLines
from sandbox.process import last_words
from tasks.columns import Column
from tasks.dtypes import numpy_dtype
from tasks.task import Case, Task

INSTRUCTIONS = 3_000_000  # of waves, in all, an access to memory by a lane as a part of one
OF_A_WORKGROUP = 1 << 16  # after which the next one has its turn
DEADLINE_S = 4.0
WORKGROUPS, OF_KNOWN = 2, 4  # of a launch: the last, and others that are drawn
LAUNCHES = 24  # of a shape
EVALUATIONS = 8_000_000  # of instructions, of all rows that are explored
MOST_EXPLORED = 24  # launches
REACHED, FOR_SOME = 0, 3  # bits of an outcome, see machine/interpreter/coverage.h
KINDS = 1024  # of shapes, see machine/interpreter/request.h
_WAYS = ("v_cmp", "s_cmp", "s_bitcmp", "s_cbranch")
_MOST_BYTES, _MOST_TOLD = 4 << 20, 1 << 15


@dataclass(frozen=True)
class Met:
    """One thing that shapes met and no known one did: the first shapes of them by number, and how many met it."""

    shapes: tuple[int, ...]
    count: int
    rank: int = 0  # 0 a way that is taken, 1 another outcome of an instruction, 2 a value of a table


@dataclass(frozen=True)
class Survey:
    """Events of shapes that the known ones did not have, which shapes had findings, and how many were looked at."""

    met: Mapping[int, Met]
    explored: Mapping[int, Met]  # the same of explored shapes, whose numbers are rows of the exploration's columns
    compared: Mapping[int, tuple[tuple[int, int, int], ...]]  # of comparisons with one outcome: row, left, right
    coverage: bytes  # of the known shapes; for another survey of the program
    failed: tuple[int, ...]
    surveyed: int
    instructions: int


def survey(
    lab: MachineLab,
    program: LabProgram,
    task: Task,
    shapes: Sequence[tuple[Case, ResolvedPlan]],
    known_shapes: int,
    rng: np.random.Generator,
    coverage: bytes = b"",
    instructions: int = INSTRUCTIONS,
    columns: Mapping[str, Column] | None = None,
    launches_of: Sequence[Launch] = (),
) -> Survey:
    """Run a few workgroups of each shape; the first `known_shapes` of them, and what `coverage` holds, are known.

    With `columns`, of names in the plan, known shapes' launches are explored for each row; `launches_of` are the
    plan's.
    """
    launches, lists, counts = list[ResolvedLaunch](), list[tuple[int, ...]](), list[int]()
    for number, (_, plan) in enumerate(shapes):
        chosen = _some(plan.launches, rng)
        launches += chosen
        lists += [_workgroups(launch, OF_KNOWN if number < known_shapes else WORKGROUPS, rng) for launch in chosen]
        counts.append(len(chosen))
    buffers = _buffers(lab, task, shapes)
    combined = ResolvedPlan(tuple(launches), {})
    work = replace(
        lab.bare_work(DEADLINE_S),
        blocks=tuple(map(len, lists)),
        workgroups=tuple(lists),
        surveyed=(tuple(counts), tuple(_kind(case) for case, _ in shapes)),
        survey=(known_shapes, instructions, OF_A_WORKGROUP),
        coverage=coverage,
        exploration=_exploration(combined, sum(counts[:known_shapes]), columns, launches_of) if columns else None,
    )
    assert isinstance(program.lines, InstructionLines)
    rows = len(next(iter(columns.values()))) if columns else 0
    return _read(_answer(lab, program, combined, buffers, work), len(shapes), rows, program.lines.mnemonics)


def _exploration(
    plan: ResolvedPlan, known_launches: int, columns: Mapping[str, Column], launches: Sequence[Launch]
) -> ShapeExploration:
    """Choose some launches of each kernel that known shapes launch, the first ones and the last ones."""
    plain = [launch for launch in launches if not (launch.loops or launch.is_step or launch.meta)]
    texts = {launch.line: launch for launch in plain}
    of_kernel = dict[str, dict[int, Launch]]()
    for number, resolved in enumerate(plan.launches[:known_launches]):
        if resolved.line is not None and (text := texts.get(resolved.line)):
            of_kernel.setdefault(resolved.kernel, {})[number] = text
    chosen = dict[int, Launch]()
    for numbered in of_kernel.values():
        rows = [*numbered.items()]
        chosen |= dict((rows[0], rows[-1]))
    return ShapeExploration(dict(sorted(chosen.items())[:MOST_EXPLORED]), columns, EVALUATIONS)


def _kind(case: Case) -> int:
    """Give a number for how long each dim is, roughly: cheap shapes shall not wait for those that cost much."""
    kind = 0
    for length in case.dims.values():
        kind = 7 * kind + max(0, length - 1).bit_length() // 2
    return kind % KINDS


def _some(launches: Sequence[ResolvedLaunch], rng: np.random.Generator) -> list[ResolvedLaunch]:
    if len(launches) <= LAUNCHES:
        return list(launches)
    drawn = np.sort(rng.choice(np.arange(1, len(launches) - 1), LAUNCHES - 2, replace=False))
    return [launches[index] for index in (0, *drawn.tolist(), len(launches) - 1)]


def _workgroups(launch: ResolvedLaunch, most: int, rng: np.random.Generator) -> tuple[int, ...]:
    total = math.prod(launch.grid)
    if total <= most:
        return tuple(range(total))
    return tuple(sorted({total - 1, *rng.integers(0, total - 1, most - 1).tolist()}))


def _buffers(lab: MachineLab, task: Task, shapes: Sequence[tuple[Case, ResolvedPlan]]) -> list[Buffer]:
    """Every buffer as long as any shape needs it; inputs hold a small case's values, over and over."""
    lengths, dtypes = dict[str, int](), dict[str, Any]()
    for spec in (*task.inputs, *task.outputs):
        lengths[spec.name] = max(task.length_of(spec, case) for case, _ in shapes)
        dtypes[spec.name] = numpy_dtype(spec.dtype)
    for _, plan in shapes:
        for name, (dtype, shape) in plan.workspaces.items():
            lengths[name] = max(lengths.get(name, 1), math.prod(shape))
            dtypes[name] = numpy_dtype(dtype)
    stored = {
        name: _longer(small, lengths[name])
        for name, small in lab.stored_inputs(task).of(replace(shapes[0][0], name="", absent=())).items()
    }
    return [
        Buffer(name, stored[name], "input")
        if name in stored
        else Buffer(name, np.empty(length, dtypes[name]), "workspace")
        for name, length in lengths.items()
    ]


def _longer(stored: Stored, size: int) -> Stored:
    """Repeat the same values for so many elements: only whole pages repeat."""
    fits = size * stored.itemsize <= stored.period
    return replace(stored, size=size, period=stored.period if fits else -(-stored.period // PAGE) * PAGE)


def _answer(
    lab: MachineLab, program: LabProgram, plan: ResolvedPlan, buffers: Sequence[Buffer], work: Work
) -> dict[str, Any]:
    layout = executor_request.lay_out(buffers, count=True, sparse=True, masks=False)
    with lab.place(Path(program.path), layout.memory) as execution_place:
        lab._write(execution_place.folder, program, plan, layout, work)
        completed = execution_place.run(executor_limits(work, layout, True), executor_request.inputs_file(buffers))
        lab._note_cpu(completed.cpu_s if completed.cpu_s > 0 else completed.seconds)
        try:
            if completed.returncode:
                raise NoResult(last_words(completed.stderr) or f"{completed.end}, {completed.returncode}")
            return dict(decoded(read_output(execution_place.folder / "result.json", _MOST_BYTES)))
        except (OSError, ValueError, RecursionError) as error:
            raise NoAnswer(f"the lab's executor ended a survey without a result ({error})") from None


def _read(answer: Mapping[str, Any], shapes: int, explorable: int, mnemonics: Sequence[str]) -> Survey:
    """Read the answer, every number in its range; NoAnswer where it cannot be true."""
    try:
        surveyed, instructions, failed, events = (answer[name] for name in ("done", "instructions", "failed", "told"))
        explored = answer["explored"]
        compared = {row[0]: tuple(map(tuple, row[1:])) for row in answer["compared"]}
        sides = [row for rows in compared.values() for row in rows]
        coverage = bytes.fromhex(answer["seen"])
        for rows, count in ((events, shapes), (explored, explorable)):
            _need(len(rows) <= _MOST_TOLD and all(len(row) == 3 for row in rows))
            _need(all(_is_below(1 << 62, number) for row in rows for number in row))
            _need(all(_is_below(count, row[0]) for row in rows))
        _need(all(_is_below(shapes, number) for number in failed))
        _need(all(len(row) == 3 and _is_below(explorable, row[0]) for row in sides))
        _need(all(type(number) is int and abs(number) <= 1 << 63 for row in sides for number in row))
        _need(_is_below(shapes + 1, surveyed) and _is_below(1 << 62, instructions))
    except (KeyError, TypeError, IndexError, ValueError):
        raise NoAnswer("the lab's executor answered a survey with what cannot be") from None
    met = _met(events, mnemonics), _met(explored, mnemonics)
    return Survey(*met, compared, coverage, tuple(failed), surveyed, instructions)


def _met(events: Sequence[Sequence[int]], mnemonics: Sequence[str]) -> dict[int, Met]:
    met = dict[int, Met]()
    for shape, item, count in events:
        before = met.get(item, Met((), 0)).shapes
        met[item] = Met((*before, shape), count, _rank(item, mnemonics))
    return met


def _rank(item: int, mnemonics: Sequence[str]) -> int:
    instruction, outcome = divmod(item, 8)
    if instruction >= len(mnemonics):
        return 2
    is_way = outcome == REACHED or (mnemonics[instruction].startswith(_WAYS) and outcome != FOR_SOME)
    return 0 if is_way else 1


def _need(good: bool) -> None:
    if not good:
        raise ValueError


def _is_below(limit: int, number: object) -> bool:
    return type(number) is int and 0 <= number < limit
