from __future__ import annotations

import pytest

from records.errors import PlanError
from sandbox.candidate.plan import Launch, Loop
from sandbox.candidate.plan_turns import turns

OUTER, INNER = Loop("i", "0", "n", "1", 1), Loop("j", "i", "-1", "-1", 2)


def launch(kernel: str, *loops: Loop, when: str = "") -> Launch:
    return Launch(kernel, ("1",), ("1",), "0", (), 1, loops, when)


def test_launches_of_one_loop_alternate_and_inner_loops_end_before_what_follows() -> None:
    plan = [launch("a"), launch("b", OUTER, INNER), launch("c", OUTER, when="i % 2 == 0"), launch("d")]
    order = [(x.kernel, names.get("i"), names.get("j")) for x, names in turns(plan, {"n": 2})]
    assert order == [("a", None, None), ("b", 0, 0), ("c", 0, None), ("b", 1, 1), ("b", 1, 0), ("d", None, None)]


def test_a_loop_that_never_ends_is_refused() -> None:
    for step, stop in (("0", "1"), ("1", "5000")):
        with pytest.raises(PlanError, match="more than 4096 turns"):
            list(turns([launch("a", Loop("i", "0", stop, step, 1))], {}))
