"""Host halves in many styles give the plan that their launches are; what no plan can say is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from imports.hosts.found_plan import HostSource, HostWishes, found_plan
from imports.hosts.host_compiler import HostCompiler
from imports.hosts.host_plan import HostPlan
from imports.hosts.memory import HostUnclear
from imports.hosts.plan_text import plan_text
from sandbox.candidate.parse import parse
from tests.support.compiler_cache import toolchain

FOLDER = Path(__file__).parents[3] / "kernels" / "hosts"
KERNEL = "#include <cstdlib>\n__global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }\n"


@pytest.fixture(scope="module")
def compiler() -> HostCompiler:
    return HostCompiler(toolchain())


def plan_of(compiler: HostCompiler, place: Path, text: str, **wishes: object) -> tuple[HostPlan, str]:
    source = HostSource((FOLDER / text).read_text() if "\n" not in text else text, place / "file.hip")
    plan = found_plan(source, compiler, HostWishes(**wishes), place)  # type: ignore[arg-type]
    names = {b: b.name for b in (*plan.inputs, *plan.outputs, *plan.workspaces)}
    return plan, plan_text(plan, names, plan.steps)


def tensors(plan: HostPlan) -> list[str]:
    rows = [*((">", b) for b in plan.inputs), *(("<", b) for b in plan.outputs), *(("=", b) for b in plan.workspaces)]
    return [f"{sign}{b.name}:{b.dtype}[{plan.text(b.count) if b.count else '?'}]" for sign, b in rows]


@pytest.mark.parametrize(
    ("name", "dims", "tensor_texts", "lines"),
    [
        (
            "scaled_sum.hip",
            {"size": 100000},
            [">x:f32[size]", ">y:f32[size]", "<y:f32[size]"],
            ['grid = ["ceil_div(size, 256)"]', "block = [256]", 'args = [2.5, "x", "y", "size:u32"]'],
        ),
        (
            "prefix_sums.hip",
            {"size": 1000},
            [">first:f32[size]", "<first:f32[size]", "=second:f32[size]"],
            ['for = "turn in range(0, log2(2 * size - 1), 1)"', 'grid = ["ceil_div(size, 256)"]'],
        ),
        (
            "managed_clip.cu",
            {"N": 20000},
            [">from_1:f32[N]", "<to:f32[N]"],
            ['grid = ["min(ceil_div(N, 256), 32)"]', 'args = ["N", "from_1", "to", "0.25:f64"]'],
        ),
        (
            "weighted.hip",
            {"n": 1024},
            [">x:f32[n]", ">weights:f32[4]", "<y:f32[n]"],
            ['symbol = {weights = "weights"}', 'grid = ["n // 256"]'],
        ),
    ],
)
def test_the_plan_of_a_host_half(
    compiler: HostCompiler, tmp_path: Path, name: str, dims: dict[str, int], tensor_texts: list[str], lines: list[str]
) -> None:
    plan, text = plan_of(compiler, tmp_path, name)
    assert (plan.dims, tensors(plan), plan.sizeless, plan.shapeless) == (dims, tensor_texts, (), ())
    assert [line for line in lines if line not in text.splitlines()] == []
    assert parse(f"/*+++\n{text}\n+++*/\n{(FOLDER / name).read_text()}").plan.launches


def test_a_command_line_gives_sizes_and_a_repeated_launch_is_one_loop(compiler: HostCompiler, tmp_path: Path) -> None:
    host = """
    int main(int argc, char** argv) {
        if (argc != 3) { return 1; }
        const int rows = atoi(argv[1]), repeat = atoi(argv[2]);
        float *d_x, *d_y, *h = (float*)malloc(rows * 12);
        cudaMalloc((void**)&d_x, rows * 12);
        cudaMalloc((void**)&d_y, rows * 12);
        cudaMemcpy(d_x, h, rows * 12, cudaMemcpyHostToDevice);
        for (int i = 0; i < repeat; i++) k<<<(3 * rows + 63) / 64, 64>>>(d_x, d_y, 3 * rows);
        cudaMemcpy(h, d_y, rows * 12, cudaMemcpyDeviceToHost);
        return 0;
    }
    """
    plan, text = plan_of(compiler, tmp_path, KERNEL + host, arguments=("700", "9"))
    assert (plan.dims, tensors(plan)) == ({"rows": 700}, [">x:f32[3 * rows]", "<y:f32[3 * rows]"])
    for line in (
        'for = "turn in range(0, 9, 1)"',
        'grid = ["ceil_div(3 * rows, 64)"]',
        'args = ["x", "y", "3 * rows"]',
    ):
        assert line in text.splitlines()


def test_a_launcher_alone_is_called_with_the_sizes_that_are_said(compiler: HostCompiler, tmp_path: Path) -> None:
    plan, _ = plan_of(compiler, tmp_path, "shift_rows.cpp")
    assert (plan.sizeless, plan.shapeless) == (("rows", "cols"), ("x", "shift", "y"))
    plan, text = plan_of(compiler, tmp_path, "shift_rows.cpp", sizes={"rows": 512, "cols": 400})
    assert plan.dims == {"rows": 512, "cols": 400}
    assert 'kernel = "shift_rows<64>"' in text and 'args = ["x", "shift", "y", "rows:i64", "cols"]' in text


def test_a_struct_of_plain_fields_is_passed_by_value(compiler: HostCompiler, tmp_path: Path) -> None:
    text = (
        "#include <cstdlib>\nstruct Shape { int n; float a; const float* from; };\n"
        "__global__ void k(float* y, Shape s) { if (threadIdx.x < s.n) y[threadIdx.x] = s.a * s.from[threadIdx.x]; }\n"
        "int main() { int n = 1000; float *x, *y, *h = (float*)malloc(4 * n); hipMalloc(&x, 4 * n);\n"
        "hipMalloc(&y, 4 * n); hipMemcpy(x, h, 4 * n, hipMemcpyHostToDevice); Shape s{n, 2.0f, x};\n"
        "k<<<(n + 63) / 64, 64>>>(y, s); hipMemcpy(h, y, 4 * n, hipMemcpyDeviceToHost); }\n"
    )
    plan, toml = plan_of(compiler, tmp_path, text)
    assert toml.split("\n")[-1] == 'args = ["y", ["n", 2.0, "x"]]'
    assert tensors(plan) == [">x:f32[n]", "<y:f32[n]"]


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("int main() { cublasSgemm(); k<<<1, 1>>>(0, 0, 1); }", "it uses cublasSgemm, of a library"),
        ("int main() { return 0; }", "ends before it launches a kernel"),
        ('int main() { FILE* f = fopen("a.dat", "r"); if (!f) puts("no a.dat"); exit(3); }', "kernel: no a.dat"),
        ("int main() { float h[4]; k<<<1, 1>>>(h, h, 1); }", "memory of the host"),
        (
            "void f(float* x) { k<<<1, 1>>>(x, x, 1); }\nvoid g(float* x) { k<<<1, 1>>>(x, x, 1); }",
            "f, g launch kernels",
        ),
        ("int f(int n) { return n; }", "no function of it launches a kernel"),
    ],
)
def test_one_sentence_says_why_there_is_no_plan(
    compiler: HostCompiler, tmp_path: Path, host: str, message: str
) -> None:
    with pytest.raises(HostUnclear) as caught:
        plan_of(compiler, tmp_path, KERNEL + host)
    assert message in str(caught.value) and "\n" not in str(caught.value)
