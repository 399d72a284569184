"""The list of public kernels is well-formed, and a file in their style, host half and all, is judged as it is written.

The kernels themselves are fetched and judged by `python -m tests.kernels.real`.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from sandbox.candidate.parse import parse
from tasks.loader import load_task
from tests.kernels.real.real import Row, assemble, rows, task_folder
from tests.kernels.real.sources import Mirror
from tests.kernels.real.table import PAGE, page
from tests.support.lab_bench import evaluator

FILE = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
#include "shapes.h"

__global__ void turned(const float* in, float* out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < cols && row < rows) out[col * rows + row] = in[row * cols + col];
}

static void reference(const std::vector<float>& in, std::vector<float>& out) { out = in; }

int main()
{
    std::vector<float> in(TILE), out(TILE);
    float *x, *y;
    hipMalloc(&x, sizeof(float) * TILE);
    turned<<<1, dim3(TILE, TILE)>>>(x, y, 1, 1);
    reference(in, out);
    printf("%f\\n", out[0]);
}
"""
PLAN = """
[[launch]]
kernel = "turned"
grid = ["ceil_div(cols, 16)", "ceil_div(rows, 16)"]
block = [16, 16]
args = ["x", "y", "rows", "cols"]
"""


def test_every_row_has_a_plan_and_a_task_that_can_be_read() -> None:
    listed = rows()
    names = [(row.repository, row.name) for row in listed]
    assert len(set(names)) == len(names)
    for row in listed:
        assert parse(f"{row.head}\n").plan.launches, row.name
        assert load_task(task_folder(row)).outputs, row.name
        assert row.fault is None or re.compile(row.fault.old), row.name
    assert len(listed) >= 80
    assert sum(row.fault is not None for row in listed) >= 40
    assert sum(bool(row.refused) for row in listed) * 10 <= len(listed)


def test_the_page_says_what_the_list_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run python -m tests.kernels.real.table"


def _clone(folder: Path, files: dict[str, str]) -> str:
    """A repository with these files; its commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "c"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    head = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, check=True, text=True)
    return head.stdout.strip()


def test_a_candidate_holds_the_kernels_of_a_python_file_and_the_files_that_its_build_links(tmp_path: Path) -> None:
    program = 'import torch\nHEAD = "void f();"\nSOURCE = r"""\n__global__ void k(int* y) { y[0] = turned(1); }\n"""\n'
    linked = "__device__ int turned(int x) { return -x; }\n"
    head = _clone(tmp_path / "somebody+kernels", {"submission.py": program, "turned.hip": linked})
    row = Row("k", "somebody/kernels", head, "MIT", "submission.py", "transposed", PLAN, also=("turned.hip",))
    kernel = assemble(row, Mirror(tmp_path))
    assert kernel is not None
    assert "import torch" not in kernel.text
    assert "void f" not in kernel.text
    assert kernel.text.index("return -x") < kernel.text.index("y[0] = turned(1)")


def test_a_file_of_a_clone_is_judged_as_it_is_written(tmp_path: Path) -> None:
    head = _clone(tmp_path / "somebody+kernels", {"src/main.hip": FILE, "src/shapes.h": "#define TILE 16\n"})
    row = Row("turned", "somebody/kernels", head, "MIT", "src/main.hip", "transposed", PLAN)
    assert assemble(row, Mirror(tmp_path / "nowhere")) is None
    kernel = assemble(row, Mirror(tmp_path))
    assert kernel is not None
    assert "hipMalloc" not in kernel.text
    lab = evaluator(7)
    verdict = lab.verify(lab.prepare(kernel.text, load_task(task_folder(row)))).verdict
    assert verdict.accepted, verdict
