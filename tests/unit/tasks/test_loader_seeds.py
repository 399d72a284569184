"""The shipped seeds as files: their plans resolve on every case there is, with every choice of tunables."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.candidate.fit import check
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import choices, resolve
from sandbox.target import load_target
from tasks.held_out import held_out_cases
from tasks.loader import load_task, task_names
from tasks.task import Task

TARGETS = ("mi300x", "h200")
SEEDS = [
    (task, path, target)
    for target in TARGETS
    for name in task_names()
    for task in [load_task(name, target)]
    for path in task.seeds
]
NAMES = [f"{target}/{task.name}/{path.name}" for task, path, target in SEEDS]
SECOND = {
    "batched_gemv": "seed_wave.hip",
    "bias_gelu": "seed_wide.hip",
    "conv_nhwc": "seed_pixels.hip",
    "decode_attention": "seed_split.hip",
    "histogram": "seed_lds.hip",
    "int4_gemm": "seed_wave.hip",
    "layer_norm": "seed_block.hip",
    "mlp_backward": "seed_tiles.hip",
    "moe_ffn": "seed_grouped.hip",
    "nearest_codeword": "seed_tile.hip",
    "reduction": "seed_tree.hip",
    "rms_norm": "seed_tunable.hip",
    "row_softmax": "seed_tunable.hip",
    "scan": "seed_wave.hip",
    "top_k": "seed_rounds.hip",
    "transpose": "seed_tiled.hip",
}  # beside seed.hip, for both targets


def test_each_task_has_the_seeds_it_should() -> None:
    both = {name: ["seed.hip", second] for name, second in SECOND.items()}
    own = {
        "mi300x": {
            "bf16_gemm": ["seed.hip", "seed_mfma.mi300x.hip"],
            "fp8_block_gemm": ["seed.hip", "seed_mfma.mi300x.hip"],
        },
        "h200": {
            "bf16_gemm": ["seed.hip"],
            "fp8_block_gemm": ["seed.h200.hip", "seed_mma.h200.hip", "seed_wgmma.h200.hip"],
        },
    }
    expected = [
        f"{target}/{name}/{path}"
        for target in TARGETS
        for name, paths in sorted({**both, **own[target]}.items())
        for path in paths
    ]
    assert expected == NAMES


@pytest.mark.slow
@pytest.mark.parametrize(("task", "path", "target"), SEEDS, ids=NAMES)
def test_the_plan_fits_the_task_and_covers_every_case(task: Task, path: Path, target: str) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    check(candidate, task)
    buffers = {tensor.name for tensor in task.inputs + task.outputs}
    assert buffers <= {arg for launch in candidate.plan.launches for arg in launch.args}
    most_lds_bytes = load_target(target).limits["lds_bytes"]
    for case in (*task.tests, *task.benchmarks, *held_out_cases(task, 3)):
        for choice in choices(candidate, task):
            launches = resolve(candidate, task, case, choice).launches
            assert max(launch.threads for launch in launches) >= 64  # a small one may follow
            for launch in launches:
                assert launch.threads <= 1024
                assert launch.lds_bytes <= most_lds_bytes


@pytest.mark.parametrize(("task", "path"), [s[:2] for s in SEEDS if "tunable" in s[1].name])
def test_the_defaults_of_the_tunable_seeds_are_the_plain_ones(task: Task, path: Path) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    assert choices(candidate, task)[0] == candidate.defaults() == {"BLOCK": 64, "VEC": 1, "KEEP": 0}
    assert len(choices(candidate, task)) >= 90
