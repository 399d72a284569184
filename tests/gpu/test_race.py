"""A kernel raced with PyTorch and with a shared object on a GPU: `python3 -m tests.gpu.test_race`, also without pytest.

It needs PyTorch for the GPU; the shared object also nvcc.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sandbox.gpu.gpu_pool import device_indices
from sandbox.target import load_target

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.beating.race import main; main()"
KERNEL = ROOT / "examples" / "row_softmax_h200.hip"
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
COPY = """
extern "C" int row_softmax_launch(const void* x, void* y, long long rows, long long cols, void*, void* stream) {
    return (int)cudaMemcpyAsync(y, x, rows * cols * 4, cudaMemcpyDeviceToDevice, (cudaStream_t)stream);
}
"""


def raced(folder: Path, *incumbent: str) -> dict[str, Any]:
    request = {
        "task": "row_softmax",
        "target": "h200",
        "cache": str(folder),
        "source": KERNEL.read_text(encoding="utf-8"),
        "tunables": {},
        "incumbent": incumbent,
    }
    words = [sys.executable, "-P", "-c", PROGRAM, str(ROOT)]
    completed = subprocess.run(words, input=json.dumps(request).encode(), stdout=subprocess.PIPE, check=True)
    answer: dict[str, Any] = json.loads(completed.stdout.splitlines()[-1])
    return answer


def check_pytorch(folder: Path) -> list[dict[str, Any]]:
    answers = [raced(folder, kind, kind, "torch.softmax(x, 1)") for kind in ("torch-eager", "torch.compile")]
    for answer in answers:
        assert "fault" not in answer, answer
        assert all(0.1 < case["ratio"] < 10 and case["windows"] >= 20 for case in answer["cases"])
        assert answer["ours_us"] > 1 and answer["theirs_us"] > 1
    return answers


def check_others(folder: Path) -> None:
    assert "computes something else" in raced(folder, "exp", "library", "torch.exp(x)")["fault"]
    assert "NameError" in raced(folder, "none", "library", "no_such_name(x)")["fault"]
    assert "made of no PyTorch file" in raced(folder, "torch.compile", "torch.compile", "")["fault"]
    if Path(NVCC).exists():
        (folder / "copy.cu").write_text("#include <cuda_runtime.h>\n" + COPY, encoding="utf-8")
        built = [NVCC, "-shared", "-Xcompiler", "-fPIC", "-o", "copy.so", "copy.cu"]
        subprocess.run(built, cwd=folder, check=True)
        fault = raced(folder, "copy.so", "shared object", str(folder / "copy.so"))["fault"]
        assert "computes something else" in fault, fault  # it was called, and copied


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        for answer in check_pytorch(Path(name)):
            sys.stdout.write(json.dumps(answer) + "\n")
        check_others(Path(name))
    sys.stdout.write("all right\n")


if __name__ == "__main__":
    main()
else:
    import pytest

    pytestmark = pytest.mark.skipif(
        not device_indices(load_target("h200")) or find_spec("torch") is None, reason="no H200 with PyTorch here"
    )

    def test_a_kernel_is_raced_with_pytorch(tmp_path: Path) -> None:
        check_pytorch(tmp_path)

    def test_what_is_no_rival_is_a_sentence(tmp_path: Path) -> None:
        check_others(tmp_path)
