"""Other tuners on a table of times, for `sample_efficiency`: run by an interpreter that has kernel_tuner and optuna.

Reads a space as JSON from the standard input and writes, for each strategy and seed, the points in the order in which
it asked for them. A point counts once, whoever asks again, and a combination that the constraints forbid costs nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import random
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

kernel_tuner, optuna, constraint = map(importlib.import_module, ("kernel_tuner", "optuna", "constraint"))
STRATEGIES = (
    "genetic_algorithm",
    "simulated_annealing",
    "diff_evo",
    "pso",
    "firefly_algorithm",
    "bayes_opt",
    "greedy_ils",
    "mls",
)
ASKED_AGAIN = 20  # trials of Optuna for each evaluation wanted: most may be forbidden or known


def cache_file(space: dict[str, Any], values: dict[str, list[int]]) -> str:
    """Write the times as Kernel Tuner stores them, for its simulation mode."""
    entries = {}
    for point, time in zip(space["points"], space["times_us"], strict=True):
        entries[",".join(map(str, point))] = {
            **dict(zip(values, point, strict=True)),
            "time": "RuntimeFailedConfig" if time is None else time,
            "times": [time],
            "compile_time": 0,
            "verification_time": 0,
            "benchmark_time": 0,
            "strategy_time": 0,
            "framework_time": 0,
            "timestamp": "2026-01-01 00:00:00+00:00",
        }
    table = {
        "device_name": "table",
        "kernel_name": "table",
        "problem_size": [1, 1],
        "tune_params_keys": list(values),
        "tune_params": values,
        "objective": "time",
        "cache": entries,
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump(table, file)
    return file.name


def kernel_tuners(space: dict[str, Any], strategy: str, seed: int, limit: int) -> list[tuple[int, ...]]:
    """List the points that one of Kernel Tuner's strategies asks for, with its default options."""
    names = [f"tunable_{n}" for n in space["names"]]  # it gives names such as block_size_x a meaning
    values = {n: sorted({p[i] for p in space["points"]}) for i, n in enumerate(names)}
    allowed = {tuple(p) for p in space["points"]}
    path = cache_file(space, values)
    random.seed(seed)
    np.random.seed(seed)
    try:
        results, _ = kernel_tuner.tune_kernel(
            "table",
            "__global__ void table() {}",
            (1, 1),
            [],
            values,
            restrictions=[constraint.FunctionConstraint(lambda *point: tuple(point) in allowed)],
            strategy=strategy,
            strategy_options={"max_fevals": limit},
            simulation_mode=True,
            cache=path,
            lang="CUDA",
        )
    finally:
        Path(path).unlink()
    return [tuple(row[n] for n in names) for row in results]


def tpe(space: dict[str, Any], seed: int, limit: int) -> list[tuple[int, ...]]:
    """List the points that Optuna's TPE asks for; tunables are the ranks of their values, which have an order."""
    values = [sorted({p[i] for p in space["points"]}) for i in range(len(space["names"]))]
    times = {tuple(p): t for p, t in zip(space["points"], space["times_us"], strict=True)}
    order: dict[tuple[int, ...], None] = {}

    def objective(trial: Any) -> Any:
        point = tuple(v[trial.suggest_int(str(i), 0, len(v) - 1)] for i, v in enumerate(values))
        if point not in times:
            raise optuna.TrialPruned
        order[point] = None
        if len(order) >= min(limit, len(times)):
            trial.study.stop()
        time_us = times[point]
        if time_us is None:
            raise optuna.TrialPruned
        return time_us

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=ASKED_AGAIN * limit)
    return list(order)


def main(arguments: Sequence[str]) -> int:
    """Run LIMIT SEED ...: every strategy from each of these seeds."""
    limit, *seeds = map(int, arguments)
    space = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    index = {tuple(p): i for i, p in enumerate(space["points"])}
    orders: dict[str, list[list[int]]] = {name: [] for name in (*STRATEGIES, "optuna_tpe")}
    with contextlib.redirect_stdout(io.StringIO()):
        for seed in seeds:
            for name in STRATEGIES:
                points = kernel_tuners(space, name, seed, limit)
                orders[name].append(list(dict.fromkeys(index[p] for p in points)))
            orders["optuna_tpe"].append([index[p] for p in tpe(space, seed, limit)])
    json.dump(orders, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
