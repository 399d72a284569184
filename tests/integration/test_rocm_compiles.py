"""AMD's own headers and compiler take the stand-alone projects, where this machine has them.

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

from app.exports.hip_project import hip_project
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.exports import KNOWN, operator

HIPCC = shlex.split(os.environ.get("HIPCC", "hipcc"))
PROBE = "#include <hip/hip_runtime.h>\n__global__ void probe(float* x) { *x = 1; }\nint main() {}\n"


def compiled(folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*HIPCC, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> None:
    if shutil.which(HIPCC[0]) is None:
        pytest.skip(f"there is no {HIPCC[0]}")
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.hip").write_text(PROBE)
    done = compiled(folder, ["--offload-arch=gfx942", "-c", "probe.hip", "-o", "probe.o"])
    if done.returncode != 0:
        pytest.skip(f"{HIPCC[0]} does not compile for gfx942: {done.stderr.strip()[:200]}")


@pytest.mark.long
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("name", ["row_softmax", "layer_norm", "fp8_block_gemm", "moe_ffn", "decode_attention"])
def test_a_project_compiles_by_its_own_command_without_a_word(name: str, tmp_path: Path) -> None:
    made = operator(name, "mi300x", load_task(name, "mi300x").seeds[-1].read_text(encoding="utf-8"))
    files = hip_project(made.launcher, load_target("mi300x"), KNOWN)
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    command = re.search(r"`hipcc (.*) && \./self_check`", (tmp_path / "README.md").read_text())
    assert command is not None
    done = compiled(tmp_path, ["-Wall", *shlex.split(command[1])])
    own = [line for line in done.stderr.splitlines() if re.match(rf"(\./)?({made.name}|self_check)\.(hip|h):", line)]
    assert (done.returncode, own) == (0, [])
    assert b"gfx942" in (tmp_path / "self_check").read_bytes()
