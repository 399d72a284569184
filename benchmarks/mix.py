"""A stored mix of candidates as a search makes them: right, wrong, broken, slow, endless, faulting; in a fixed order.

All are made from the shipped seeds of `rms_norm` and `transpose` by edits of their text, so what each must come to is
known. Every candidate's text is its own: nothing is judged twice.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import choices
from tasks.loader import load_task
from tasks.task import Task

SEED = 20
SHARES = {"right": 0.32, "slow": 0.04, "wrong": 0.36, "broken": 0.24, "endless": 0.02, "faulting": 0.02}
OWN = "\n__device__ int candidate() {{ return {0}; }}\n"  # makes each text, and so each verdict, its own
# Edits of a seed's text, (class, task, what, old, new); the text `old` is there exactly once or more.
EDITS: Sequence[tuple[str, str, str, str, str]] = (
    ("wrong", "rms_norm", "no epsilon", "/ cols + eps)", "/ cols)"),
    ("wrong", "rms_norm", "mean over one more", "/ cols + eps)", "/ (cols + 1) + eps)"),
    ("wrong", "rms_norm", "a percent too large", "* scale * widen(w[e]))", "* 1.01f * scale * widen(w[e]))"),
    (
        "wrong",
        "rms_norm",
        "weights left out",
        "narrow(widen(v[e]) * scale * widen(w[e]))",
        "narrow(widen(v[e]) * scale)",
    ),
    (
        "wrong",
        "rms_norm",
        "last elements never written",
        "if (tail + lane < cols) y[tail + lane]",
        "if (tail + lane < cols - 1) y[tail + lane]",
    ),
    ("wrong", "rms_norm", "first wave's sum only", "value += partial[wave];", "value += 0.0f * partial[wave];"),
    (
        "wrong",
        "rms_norm",
        "writes its input",
        "if (lane < head) y[lane] =",
        "if (lane == 0) ((unsigned short*)x)[0] = 0;\n    if (lane < head) y[lane] =",
    ),
    ("wrong", "transpose", "not transposed back", "tile[lane * (TILE + PAD) + j]", "tile[j * (TILE + PAD) + lane]"),
    ("wrong", "transpose", "last column missing", "left + j < cols &&", "left + j < cols - 1 &&"),
    (
        "wrong",
        "transpose",
        "scaled a little",
        "= tile[lane * (TILE + PAD) + j];",
        "= 1.000001f * tile[lane * (TILE + PAD) + j];",
    ),
    ("wrong", "transpose", "no guard: writes past the end", "if (left + j < cols && top + lane < rows)", "if (true)"),
    ("broken", "rms_norm", "undeclared name", "float sum = square(first)", "float sum = sqare(first)"),
    ("broken", "rms_norm", "missing semicolon", "const int lane = threadIdx.x;", "const int lane = threadIdx.x"),
    ("broken", "rms_norm", "plan names no kernel", 'kernel = "rms_norm"', 'kernel = "rms_norms"'),
    ("broken", "rms_norm", "argument unknown to the task", '"cols", "eps"]', '"cols", "epsilon"]'),
    ("broken", "rms_norm", "too few arguments", '"rows", "cols", "eps"]', '"rows", "cols"]'),
    ("broken", "transpose", "block too large", 'block = ["TILE", "DOWN"]', 'block = ["TILE * 64", "DOWN"]'),
    (
        "broken",
        "transpose",
        "header that is not there",
        "#include <hip/hip_runtime.h>",
        "#include <hip/hip_runtime.h>\n#include <cutlass/cutlass.h>",
    ),
    ("broken", "transpose", "plan is not TOML", "[[launch]]", "[[launch]"),
    (
        "endless",
        "rms_norm",
        "waits for nobody",
        "const int lane = threadIdx.x;",
        "const int lane = threadIdx.x;\n    while (*(volatile const unsigned short*)x != 0x7fff) {}",
    ),
    (
        "endless",
        "transpose",
        "one block never ends",
        "__syncthreads();",
        "__syncthreads();\n    if (blockIdx.x + blockIdx.y == 0)"
        "\n        while (*(volatile const int*)x != 0x7fffffff) {}",
    ),
    ("faulting", "rms_norm", "reads far away", "x += start;", "x += start + (1l << 42);"),
    (
        "faulting",
        "transpose",
        "misaligned load",
        "const int lane = threadIdx.x, left",
        "y[0] = *(const double*)((const char*)x + 4);\n    const int lane = threadIdx.x, left",
    ),
)
FILES = {"rms_norm": "seed_tunable.hip", "transpose": "seed_tiled.hip"}
SLOW = "seed.hip"  # one work-item a row, or reads and writes a column apart


@dataclass(frozen=True)
class Member:
    """One candidate: its class decides what the verdict must be."""

    kind: str  # right | slow | wrong | broken | endless | faulting
    edit: str
    task: Task
    source: str
    tunables: dict[str, int]

    @property
    def is_right(self) -> bool:
        """True where it must be accepted and timed."""
        return self.kind in ("right", "slow")


def mix(count: int = 500) -> list[Member]:
    """Draw `count` candidates; the same each time."""
    rng, members = random.Random(SEED), list[Member]()
    tasks = {name: load_task(name) for name in FILES}
    seeds = {name: _text(tasks[name], file) for name, file in FILES.items()}
    legal = {name: choices(parse(seeds[name]), tasks[name]) for name in FILES}
    for kind, share in SHARES.items():
        edits = [e for e in EDITS if e[0] == kind]
        for number in range(round(share * count)):
            name, edit = list(FILES)[number % 2], "as shipped"
            source, chosen = seeds[name], dict(rng.choice(legal[name]))
            if edits:
                _, name, edit, old, new = edits[number % len(edits)]
                source, chosen = _edited(seeds[name], old, new), dict(rng.choice(_telling(edit, legal[name])))
            elif kind == "slow":
                source, chosen = _text(tasks[name], SLOW), {}
            members.append(Member(kind, edit, tasks[name], source + OWN.format(len(members)), chosen))
    rng.shuffle(members)
    return members


def _text(task: Task, file: str) -> str:
    return (task.folder / file).read_text(encoding="utf-8")


def _edited(source: str, old: str, new: str) -> str:
    if old not in source:
        raise ValueError(f"the seed no longer holds {old!r}; fix the edit")
    return source.replace(old, new, 1) if old == "[[launch]]" else source.replace(old, new)


def _telling(edit: str, legal: Sequence[Mapping[str, int]]) -> Sequence[Mapping[str, int]]:
    """List the choices of tunables with which an edit makes a difference."""
    least = {"last elements never written": ("VEC", 2), "first wave's sum only": ("BLOCK", 128)}
    name, value = least.get(edit, ("", 0))
    return [row for row in legal if row[name] >= value] if name else legal
