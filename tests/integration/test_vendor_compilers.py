"""The vendors' own headers and compilers take what is exported, where this machine has them.

`HIPCC` is the command, `hipcc` where it is not set: words of a shell, such as `clang++ -x hip -I HEADERS
--rocm-device-lib-path=BITCODE --hip-link -lamdhip64`. It must know gfx942.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from exports.hip_project import hip_project
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.exports import KNOWN, operator

HIPCC = shlex.split(os.environ.get("HIPCC", "hipcc"))
PROBE = "#include <hip/hip_runtime.h>\n__global__ void probe(float* x) { *x = 1; }\nint main() {}\n"

HALVES = """
__global__ void scale(const __half* x, __half* y, __half2* z) {
    const float f = x[threadIdx.x];
    y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x] + (__half)(f * 0.5f);
    z[threadIdx.x] = z[threadIdx.x] * z[threadIdx.x];
}
"""
# What PyTorch gives its extensions: COMMON_HIPCC_FLAGS and COMMON_NVCC_FLAGS of torch.utils.cpp_extension.
ON_HIP = ["-D__HIP_NO_HALF_OPERATORS__=1", "-D__HIP_NO_HALF_CONVERSIONS__=1"]
ON_CUDA = [f"-D__CUDA_NO_{name}__" for name in ("HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS")]


def compiled(folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*HIPCC, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> None:
    if shutil.which(HIPCC[0]) is None:
        pytest.skip(f"there is no {HIPCC[0]}")
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.hip").write_text(PROBE)
    process = compiled(folder, ["--offload-arch=gfx942", "-c", "probe.hip", "-o", "probe.o"])
    if process.returncode != 0:
        pytest.skip(f"{HIPCC[0]} does not compile for gfx942: {process.stderr.strip()[:200]}")


@pytest.mark.long
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("name", ["row_softmax", "layer_norm", "fp8_block_gemm", "moe_ffn", "decode_attention"])
def test_a_project_compiles_by_its_own_command_without_a_word(name: str, tmp_path: Path) -> None:
    kernel_operator = operator(name, "mi300x", load_task(name, "mi300x").seeds[-1].read_text(encoding="utf-8"))
    files = hip_project(kernel_operator.launcher, load_target("mi300x"), KNOWN)
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    command = re.search(r"`hipcc (.*) && \./self_check`", (tmp_path / "README.md").read_text())
    assert command is not None
    process = compiled(tmp_path, ["-Wall", *shlex.split(command[1])])
    own_lines = [
        line
        for line in process.stderr.splitlines()
        if re.match(rf"(\./)?({kernel_operator.name}|self_check)\.(hip|h):", line)
    ]
    assert (process.returncode, own_lines) == (0, [])
    assert b"gfx942" in (tmp_path / "self_check").read_bytes()


@pytest.mark.long
@pytest.mark.usefixtures("known")
def test_halves_keep_their_operators_in_an_extension_of_pytorch_for_rocm(tmp_path: Path) -> None:
    (tmp_path / "halves.hip").write_text(f"#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n{HALVES}")
    words = [*ON_HIP, "-c", "halves.hip", "-o", "halves.o"]
    assert compiled(tmp_path, ["--offload-arch=gfx942", *words]).returncode != 0
    process = compiled(tmp_path, [*words, *operator("transpose", "mi300x").flags()])
    assert process.returncode == 0, process.stderr


@pytest.mark.long
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_halves_keep_their_operators_in_an_extension_of_pytorch_for_cuda(tmp_path: Path) -> None:
    (tmp_path / "halves.cu").write_text(f"#include <cuda_fp16.h>\n{HALVES}")
    words = ["nvcc", *ON_CUDA, "-c", "halves.cu", "-o", "halves.o"]

    def ends(more: list[str]) -> int:
        return subprocess.run([*words, *more], cwd=tmp_path, capture_output=True, check=False).returncode

    assert ends([]) != 0 and ends(operator("transpose", "h200").flags()) == 0
