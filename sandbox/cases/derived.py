"""The cases that both judges draw for a candidate beside the listed ones, from one place.

Shapes derived from the launch plan and from the tests are executed with every check there is. A sweep is a stream of
small ones for a judge that can afford thousands.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

from sandbox.candidate.prepare import Prepared
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.shapes.growth import plan_cases
from sandbox.cases.shapes.plan_ways import plan_way_cases
from sandbox.cases.sweep import Sweep
from tasks.held_out import held_out_cases
from tasks.task import Case

MOST_NUMBERS = 1024  # of a file, beside which lengths come first in a sweep
_NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]{1,8}|\d{1,10})(?=[uUlLzZ]*(?![\w.]))")


def plan_shapes(prepared: Prepared, rng_seed: int) -> tuple[Case, ...]:
    """Shapes from the plan's grids, then held-out ones derived from the tests."""
    return (*plan_cases(prepared, rng_seed), *held_out_cases(prepared.task, rng_seed))


def derived_cases(prepared: Prepared, rng_seed: int, listed: Collection[Case]) -> tuple[Case, ...]:
    """Derive the shapes of the plan, and a case for each way of the plan that none of them takes; each shape once."""
    shapes = plan_shapes(prepared, rng_seed)
    way_cases = plan_way_cases(prepared, rng_seed, (*listed, *shapes))
    return tuple({case.name: case for case in (*shapes, *way_cases)}.values())


def sweep_of(prepared: Prepared, secret: int, families: InputFamilies) -> Sweep:
    """Make the sweep of one candidate by its own secret; without that nobody can foretell it."""
    return Sweep(prepared.task, secret, tuple(families.ranges), numbers_in(prepared), families.independent)


def candidate_secret(prepared: Prepared, secret: int) -> int:
    """Derive a secret of the candidate's own from its source, tunables and task; SHA-256 keeps the first one."""
    identity = (
        prepared.id,
        *(f"{name}={value}" for name, value in sorted(prepared.tunables.items())),
        prepared.task.digest,
    )
    return int.from_bytes(hashlib.sha256("\0".join([f"{secret:x}", *identity]).encode()).digest()[:16], "little")


def numbers_in(prepared: Prepared) -> tuple[int, ...]:
    """List the whole numbers that the file and its plan hold, and the tunables' values."""
    literals = _NUMBER.findall(prepared.source)
    numbers = {int(text, 16 if text[1:2] in ("x", "X") else 10) for text in literals}
    return tuple(sorted({*numbers, *prepared.tunables.values()}))[:MOST_NUMBERS]
