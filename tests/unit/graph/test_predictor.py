"""A predictor learnt from a run's estimates: what it foretells, and that it never speaks against what is new."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from graph.doubles import table_task
from graph.exploration import Exploration
from graph.predictor import Predictor
from tests.support.line_changes import LineChanges
from tests.support.scripted_run import Bench
from tests.unit.graph.test_exploration import Asked

BASE = {"loops": 1.0, "shared": 0.0, "unroll": 0.0}


def taught() -> Predictor:
    """Twice as many loops cost 40 %; unrolling gives nothing."""
    found = Predictor()
    for loops, unroll in itertools.product((1.0, 2.0, 3.0), (0.0, 1.0, 2.0)):
        found.learn({**BASE, "loops": loops, "unroll": unroll}, 100.0 * 1.4**loops)
    return found


def test_a_known_loss_is_sure_and_a_known_gain_is_none() -> None:
    predictor, two = taught(), {**BASE, "loops": 2.0}
    slower, faster = predictor.forecast({**BASE, "loops": 4.0}, two), predictor.forecast(BASE, two)
    assert slower is not None and faster is not None
    assert slower.surely_loses(1.3) and not slower.surely_loses(3.0)
    assert not faster.surely_loses(1.0)
    assert faster.mean < -0.25


def test_what_never_changed_is_not_spoken_against() -> None:
    found = taught().forecast({**BASE, "loops": 3.0, "shared": 2.0}, BASE)
    assert found is not None and found.mean > 0.5
    assert not found.surely_loses(1.0)
    other = taught().forecast({**BASE, "loops": 3.0, "never_seen": 2.0}, BASE)
    assert other is not None and not other.surely_loses(1.0)


def test_little_is_not_enough_and_what_does_not_compile_teaches_nothing() -> None:
    predictor = Predictor()
    for _ in range(20):
        predictor.learn(BASE, None)
        predictor.learn({}, 5.0)
    assert predictor.forecast(BASE, BASE) is None


PLAN = '/*+++\n[[launch]]\nkernel = "k"\ngrid = ["ceil_div(n, 64)"]\nblock = ["64"]\nargs = ["n"]\n+++*/\n'
SEED = PLAN + 'extern "C" __global__ void k(int n) {}\n// time_us = 100\n'
BOOK = {f"atomic:{n}": f"{'atomicAdd(p, 1);' * n}\n// time_us = {100 * (1 + n)}\n" for n in range(1, 15)}
BOOK["fast:1"] = "__shared__ float a[64];\n// time_us = 50\n"


def explored(folder: Path, predictor: Predictor | None) -> tuple[Exploration, int]:
    """A search over changes that add atomics, each of which loses, and a last one that gains."""
    task, asked = table_task(folder, SEED), Asked()
    search = Exploration(asked, lambda s: asked.sandbox.prepare(s, task), LineChanges(BOOK), 24, predictor=predictor)
    search.run(asked.sandbox.prepare(SEED, task))
    return search, len(asked.seen)


def test_an_exploration_leaves_out_what_is_sure_to_lose_and_finds_the_same_kernel(tmp_path: Path) -> None:
    (bare, all_of_them), (search, fewer) = explored(tmp_path / "a", None), explored(tmp_path / "b", Predictor())
    assert search.best.changes == bare.best.changes == ("fast:1",)
    assert fewer < all_of_them
    spared = [line for line in search.without_gain if "not tried" in line]
    assert spared and all(line.startswith("atomic:") and "slower by" in line for line in spared)
    assert not [line for line in bare.without_gain if "not tried" in line]


def test_the_limit_gives_a_run_its_predictor(tmp_path: Path) -> None:
    asked = []
    for predictor in (0, 1):
        folder = tmp_path / str(predictor)
        bench = Bench(folder, lambda step, base: SEED, SEED, planner=lambda g: (), generations=1, predictor=predictor)
        bench.context = replace(bench.context, changes=LineChanges(BOOK))
        bench.drive()
        best = min(a.geomean_us for a in bench.attempts().values() if a.geomean_us)
        assert best == pytest.approx(50.0)
        asked.append(bench.did("estimate"))
    assert asked[1] < asked[0]
