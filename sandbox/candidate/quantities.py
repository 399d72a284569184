"""The quantities that a file's own header computes from several tunables, and the tunables that nothing reads.

The threads of a block or the bytes of a tile often say more about a time than the tunables they follow from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from records.errors import PlanError
from sandbox.candidate.arguments import words_of
from sandbox.candidate.meta_values import words_of_meta
from sandbox.candidate.plan import Plan
from sandbox.candidate.prepare import Prepared
from tasks.expressions import evaluate, names_in

_OPERATOR = re.compile(r"==|!=|<=|>=|<|>|%")


def quantities(prepared: Prepared) -> list[list[float]]:
    """For each choice the sizes of its launches and the parts of its constraints, on the first benchmark case."""
    cases = (*prepared.task.benchmarks, *prepared.task.tests)
    return computed(expressions(prepared.candidate.plan), prepared.choices, cases[0].dims if cases else {})


def expressions(plan: Plan) -> list[str]:
    """Extents of launches and workspaces, and both sides of each comparison and remainder in a constraint."""
    sizes = [text for launch in plan.launches for text in (*launch.grid, *launch.block, launch.lds)]
    sizes += [text for launch in plan.launches for loop in launch.loops for text in (loop.start, loop.stop, loop.step)]
    sizes += [launch.when for launch in plan.launches if launch.when]
    shapes = [text for workspace in plan.workspaces for text in workspace.shape]
    return [*sizes, *shapes, *(part.strip() for text in plan.constraints.values() for part in _parts(text))]


def computed(texts: Sequence[str], choices: Sequence[Mapping[str, int]], dims: Mapping[str, int]) -> list[list[float]]:
    """Compute the expressions that depend on two tunables at least and change, each once; a row for a choice."""
    columns = {column: None for text in texts if len(set(column := _column(text, choices, dims))) > 1}
    return [list(row) for row in zip(*columns, strict=True)]


def unused_tunables(prepared: Prepared) -> frozenset[str]:
    """Find the tunables that neither the launch plan nor the code names; none where the code pastes names together."""
    plan = prepared.candidate.plan
    code = prepared.source.partition("+++*/")[2] or prepared.source
    if "##" in code:
        return frozenset()
    used = {name for text in (*expressions(plan), *plan.constraints.values()) for name in names_in(text)}
    used |= {word for launch in plan.launches for arg in launch.args for word in words_of(arg)}
    used |= {word for launch in plan.launches if launch.meta for _, word in words_of_meta(launch.meta)}
    used |= {word for launch in plan.launches for word in re.findall(r"\w+", launch.kernel)}
    used |= set(re.findall(r"\w+", code))
    return frozenset(plan.tunables) - used


def _parts(text: str) -> list[str]:
    """Split a constraint into its operands, where each is an expression of its own."""
    parts = _OPERATOR.split(text)
    return parts if all(part.count("(") == part.count(")") for part in parts) else [text]


def _column(text: str, choices: Sequence[Mapping[str, int]], dims: Mapping[str, int]) -> tuple[float, ...]:
    """Compute the values over all choices; none where the text does not depend on two tunables or has no value."""
    needs = sorted(names_in(text) & choices[0].keys())
    if len(needs) < 2:
        return ()
    keys = [tuple(choice[name] for name in needs) for choice in choices]
    try:
        values = {
            key: float(evaluate(text, {**dims, **dict(zip(needs, key, strict=True))})) for key in dict.fromkeys(keys)
        }
    except PlanError:
        return ()
    return tuple(values[key] for key in keys)
