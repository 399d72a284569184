"""A damaged image ends the interpreter with a message or runs to a result: no bit of it leads outside of its memory."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab import executor_request
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.machine.executor import executor
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, lab, launch

SOURCE = """
__device__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x] * table[threadIdx.x & 3];
    __syncthreads();
    atomicAdd(&tile[threadIdx.x & 7], 1.0f);
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x] + __shfl_xor(x[threadIdx.x], 8);
}
"""
DAMAGED = 60
REFUSED = (70, 71)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    """The image of a program, and a folder with a request for it."""
    folder = tmp_path_factory.mktemp("damaged")
    plan = Plan((Launch("k", ("1",), ("1",), "0", ("a", "a"), 1),))
    program = lab().build(Candidate("damaged", HEAD + SOURCE, plan), {})
    assert not isinstance(program, tuple), program
    buffers = (Buffer("x", np.ones(64, np.float32), "input"), Buffer("y", np.zeros(64, np.float32), "output"))
    resolved = ResolvedPlan((launch("k", ["x", "y"]),), {})
    request = ExecutionRequest(program, resolved, buffers, 0.2)
    work = lab()._work(request)
    layout = executor_request.lay_out(buffers, count=False)
    lab()._write(folder, program, resolved, layout, work)
    return Path(program.path).read_bytes(), folder


def ending(image: bytes, folder: Path, path: Path) -> int:
    path.write_bytes(image)
    (folder / "result.json").write_bytes(b"")
    argv = [str(executor(toolchain(), COMPILED.resolve())), str(path), str(folder)]
    return subprocess.run(argv, capture_output=True, timeout=60).returncode


def test_an_image_as_it_was_written_runs(prepared: tuple[bytes, Path], tmp_path: Path) -> None:
    image, folder = prepared
    assert ending(image, folder, tmp_path / "image") == 0
    assert b'"findings":[]' in (folder / "result.json").read_bytes()


@pytest.mark.parametrize("seed", range(3))
def test_damaged_bytes_end_with_a_message_or_a_result(prepared: tuple[bytes, Path], tmp_path: Path, seed: int) -> None:
    image, folder = prepared
    rng = random.Random(seed)
    for _ in range(DAMAGED // 3):
        damaged = bytearray(image)
        for _ in range(rng.randint(1, 8)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        cut = len(damaged) if rng.random() < 0.8 else rng.randrange(len(damaged))
        code = ending(bytes(damaged[:cut]), folder, tmp_path / "image")
        assert code == 0 or code in REFUSED, (seed, code)
