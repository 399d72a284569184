"""Host halves in many styles give the plan that their launches are; what no plan can say is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from imports.hosts.found_plan import HostPlan, found_plan
from imports.hosts.memory import HostUnclear
from imports.hosts.plan_text import plan_text
from sandbox.candidate.parse import parse

FOLDER = Path(__file__).parents[3] / "kernels" / "hosts"
KERNEL = "__global__ void k(const float* x, float* y, int n) { }\n"


def plan_of(name: str, **options: object) -> tuple[HostPlan, str]:
    plan = found_plan((FOLDER / name).read_text(), **options)  # type: ignore[arg-type]
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
            "row_sums.cu",
            {"M": 512, "N": 300},
            [">inp:f32[M * N]", "<out:f32[M]"],
            ['grid = ["ceil_div(M, 128)"]', 'args = ["out", "inp", "M", "N"]'],
        ),
        (
            "tiled_product.hip",
            {"a_rows": 128, "a_cols": 64, "b_cols": 96},
            [">A:f32[a_rows * a_cols]", ">B:f32[a_cols * b_cols]", "<C:f32[a_rows * b_cols]"],
            ['kernel = "product<float, 16>"', 'grid = ["b_cols // 16", "a_rows // 16"]', "block = [16, 16]"],
        ),
        (
            "two_step_mean.hip",
            {"n": 65536},
            [">in_1:f32[n]", "<out:f32[1]", "=partial:f32[min(ceil_div(n, 128), 64)]"],
            ["fill = {out = 0}", 'lds = "512"', 'args = ["partial", "out", "min(ceil_div(n, 128), 64)", "n"]'],
        ),
        (
            "prefix_sums.hip",
            {"size": 1000},
            [">first:f32[size]", "<first:f32[size]", "=second:f32[size]"],
            [
                'for = "offset in range(0, log2(2 * size - 1), 1)"',
                'args = ["second", "first", "(1 << offset):u32", "size:u32"]',
                'copy = {first = "second"}',
            ],
        ),
        (
            "managed_clip.cu",
            {"N": 20000},
            [">from_1:f32[N]", "<to:f32[N]"],
            [
                'grid = ["(32 if (ceil_div(N, 256) > 32) else ceil_div(N, 256))"]',
                'args = ["N", "from_1", "to", "0.25:f64"]',
            ],
        ),
        (
            "wide_blend.cu",
            {"width": 96, "height": 64},
            [">a:f32[width * height]", ">b:f32[width * height]", "<out:f32[width * height]"],
            ['kernel = "image::blend<128>"', 'grid = ["ceil_div((width * height) // 4, 128)"]'],
        ),
        (
            "heat_rod.hip",
            {"POINTS": 3000},
            [">now:f32[POINTS]", "<now:f32[POINTS]", "=next:f32[POINTS]"],
            ['for = "t in range(0, 6, 1)"', 'when = "t % 2 == 1"', 'args = ["next", "now", 0.125, "POINTS"]'],
        ),
        (
            "histogram_bins.hip",
            {"size": 30000},
            [">data:u8[size]", "<bins:i32[256]"],
            ["fill = {bins = 0}", "grid = [16]", 'args = ["data", "bins", "size:u32"]'],
        ),
    ],
)
def test_the_plan_of_a_host_half(name: str, dims: dict[str, int], tensor_texts: list[str], lines: list[str]) -> None:
    plan, text = plan_of(name)
    assert (plan.dims, tensors(plan), plan.sizeless, plan.shapeless) == (dims, tensor_texts, (), ())
    assert [line for line in lines if line not in text.splitlines()] == []
    assert parse(f"/*+++\n{text}\n+++*/\n{(FOLDER / name).read_text()}").plan.launches


def test_sizes_come_with_what_they_must_be_multiples_of() -> None:
    assert plan_of("tiled_product.hip")[0].multiples == {"a_rows": 16, "a_cols": 16, "b_cols": 16}
    assert plan_of("wide_blend.cu")[0].multiples == {"height": 4}
    assert plan_of("scaled_sum.hip")[0].multiples == {}


def test_what_a_launcher_alone_does_not_say_is_named_at_once() -> None:
    plan, _ = plan_of("shift_rows.cpp")
    assert (plan.sizeless, plan.shapeless) == (("rows", "cols"), ("x", "shift", "y"))
    plan, text = plan_of("shift_rows.cpp", sizes={"rows": 512, "cols": 400})
    assert plan.dims == {"rows": 512, "cols": 400} and 'when = "(cols > 512)"' in text
    assert 'kernel = "shift_rows<64>"' in text and 'args = ["x", "shift", "y", "rows:i64", "cols"]' in text


def test_sizes_that_the_user_gives_take_the_place_of_the_files() -> None:
    assert plan_of("row_sums.cu", sizes={"M": 33})[0].dims == {"M": 33, "N": 300}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bad_until_done.hip", "how often the loop in line 16 launches depends on values that only a run would give"),
        ("bad_no_launch.hip", "no function of it launches a kernel"),
        ("bad_symbol.hip", "it fills a variable of the device from the host (hipMemcpyToSymbol)"),
    ],
)
def test_what_no_plan_can_say_is_refused(name: str, message: str) -> None:
    with pytest.raises(HostUnclear) as caught:
        plan_of(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("void f(float* x, float* y, int n) { cublasSgemm(x, y); k<<<1, 1>>>(x, y, n); }", "a library's kernel"),
        ("void f(float* x, float* y, int n) { other<<<1, 1>>>(x, y, n); }", "which is no kernel of the file"),
        ("void f(float* x, float* y, int n) { k<<<1, 1>>>(x, y); }", "launched with 2 arguments and takes 3"),
        ("void f(float* x, float* y, int n) { if (busy()) k<<<1, 1>>>(x, y, n); }", "whether it launches in line 2"),
        (
            "void f(float* x, float* y, int n) { k<<<1, 1>>>(x, y, n); }\nvoid g(float* x) { k<<<1, 1>>>(x, x, 1); }",
            "f, g launch kernels: name one",
        ),
        ("int main() { for (;;) { int a = 1; } }", "launches no kernel"),
        ("int f(int n) { return f(n); } int main() { f(1); }", "launches no kernel"),
        ("void f(float* x, float* y, int n) { k<<<, >>>(x y); }", "could not be read"),
    ],
)
def test_one_sentence_says_why_there_is_no_plan(host: str, message: str) -> None:
    with pytest.raises(HostUnclear) as caught:
        found_plan(KERNEL + host)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "is_input"),
    [
        ("y[0] = x[1] + x[n - 1];", True),
        ("y[0] = x[n] == 3 ? 1 : 0;", True),
        ("x[0] = y[0] = 1;", False),
        ("x[y[0] > 0 ? 1 : 2] += 1; y[0] = 1;", False),
        ("y[0] = atomicAdd(&x[1], 1.0f);", False),
        ("float* z = x; y[0] = z[1];", False),
        ("y[0] = ++x[1];", False),
    ],
)
def test_a_pointer_that_is_only_read_is_no_output(body: str, is_input: bool) -> None:
    text = (
        f"__global__ void k(float* x, float* y, int n) {{ {body} }}\n"
        "void f(float* x, float* y, int n) { k<<<n, 1>>>(x, y, n); }"
    )
    assert ([b.name for b in found_plan(text, "f", {"n": 8}).outputs] == ["y"]) is is_input


def test_a_main_that_asks_for_arguments_is_read_behind_that() -> None:
    host = """
    int main(int argc, char* argv[]) {
        if (argc != 3) { printf("usage"); return 1; }
        const int n = atoi(argv[1]);
        int sizes[] = {64, 128};
        float *x, *y;
        hipMalloc(&x, n * 4);
        hipMalloc(&y, n * 4);
        hipMemcpy(x, y, 0, hipMemcpyHostToDevice);
        for (int j = 0; j < sizeof(sizes) / sizeof(int); j++) k<<<(n + sizes[j] - 1) / sizes[j], sizes[j]>>>(x, y, n);
        hipMemcpy(h, y, n * 4, hipMemcpyDeviceToHost);
    }
    """
    plan = found_plan(KERNEL + host)
    assert (plan.sizeless, plan.shapeless) == (("n",), ())
    assert [plan.text(s.block[0]) for s in found_plan(KERNEL + host, "", {"n": 100}).steps if s.block] == ["64", "128"]


def test_a_function_or_a_kernel_is_chosen_by_its_name() -> None:
    text = (
        KERNEL
        + "__global__ void j(const float* x, float* y, int n) { }\n"
        + "void f(float* x, float* y, int n) { k<<<n, 1>>>(x, y, n); j<<<n, 2>>>(x, y, n); }\n"
        + "void g(float* x, float* y, int n) { f(x, y, 2 * n); }\n"
    )
    assert [s.kernel for s in found_plan(text, "f", {"n": 8}).steps] == ["k", "j"]
    assert [s.kernel for s in found_plan(text, "j", {"n": 8}).steps] == ["j"]
    chosen = found_plan(text, "g", {"n": 8})
    assert [chosen.text(s.grid[0]) for s in chosen.steps] == ["2 * n", "2 * n"]


@pytest.mark.parametrize(
    ("loop", "turns"),
    [
        ("for (int i = 0; i < n; i += 4)", [0, 4, 8]),
        ("for (int i = 1; i <= n; i *= 2)", [1, 2, 4, 8]),
        ("for (int i = 1; i < n; i <<= 1)", [1, 2, 4, 8]),
        ("for (int i = n / 2; i > 0; i >>= 1)", [5, 2, 1]),
        ("for (int i = n; i >= 1; i--)", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        ("for (int i = n; i > 0; i = i / 2)", [10, 5, 2, 1]),
    ],
)
def test_a_loop_has_the_turns_of_c(loop: str, turns: list[int]) -> None:
    from tasks.expressions import evaluate

    text = f"{KERNEL}void f(const float* x, float* y, int n) {{ {loop} k<<<1, 1>>>(x, y, i); }}"
    plan = found_plan(text, "f", {"n": 10})
    (step,) = plan.steps
    ((name, start, stop, by),) = step.loops
    numbers = range(*(evaluate(plan.text(a), {"n": 10}) for a in (start, stop, by)))
    argument = step.arguments[2][0]
    assert [evaluate(argument.text, {"n": 10, name: i}) for i in numbers] == turns  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("before", "launched"),
    [
        ("#define GO(kernel, g, b, ...) kernel<<<g, b>>>(__VA_ARGS__)\n", "GO(k, (n + 63) / 64, 64, x, y, n);"),
        (
            "#define GO(kernel, g, ...) do { kernel<<<dim3(g), dim3(64)>>>(__VA_ARGS__); CHECK(last()); } while (0)\n",
            "GO(k, (n + 63) / 64, x, y, n);",
        ),
        (
            "#define GO(kernel, g, b, ...) { hipLaunchKernelGGL(kernel, g, b, 0, 0, ##__VA_ARGS__); }\n",
            "GO(k, (n + 63) / 64, 64, x, y, n);",
        ),
        (
            "struct Go { static void on(const float* x, float* y, int m) { k<<<(m + 63) / 64, 64>>>(x, y, m); } };\n",
            "Go::on(x, y, n);",
        ),
    ],
)
def test_macros_and_static_functions_of_classes_launch(before: str, launched: str) -> None:
    host = "int main() { int n = 1000; float *x, *y; hipMalloc(&x, 4 * n); hipMalloc(&y, 4 * n);\n"
    copies = "hipMemcpy(x, from, 4 * n, hipMemcpyHostToDevice); {} hipMemcpy(to, y, 4 * n, hipMemcpyDeviceToHost); }}\n"
    plan = found_plan(KERNEL + before + host + copies.replace("{}", launched, 1).replace("}}", "}"))
    text = plan_text(plan, {b: b.name for b in (*plan.inputs, *plan.outputs)}, plan.steps)
    for line in ('grid = ["ceil_div(n, 64)"]', "block = [64]", 'args = ["x", "y", "n"]'):
        assert line in text.split("\n"), text


@pytest.mark.parametrize(
    "filled",
    [
        "Shape s; s.n = n; s.a = 2.0f; s.from = x; Shape* unused;",
        "Shape s{n, 2.0f, x};",
        "Shape s = {n, 2.0f, x};",
        "Shape other{n, 1.0f, x}; other.a = 2.0f; Shape s = other;",
        "Shape s = made(x, n);",
    ],
)
def test_a_struct_of_plain_fields_is_passed_by_value(filled: str) -> None:
    text = (
        "struct Shape { int n; float a; const float* from; };\n"
        "Shape made(float* x, int n) { Shape s; s.n = n; s.from = x; s.a = 2.0f; return s; }\n"
        "__global__ void k(float* y, Shape s) { if (threadIdx.x < s.n) y[threadIdx.x] = s.a * s.from[threadIdx.x]; }\n"
        "int main() { int n = 1000; float *x, *y; hipMalloc(&x, 4 * n); hipMalloc(&y, 4 * n);\n"
        f"hipMemcpy(x, a, 4 * n, hipMemcpyHostToDevice); {filled} k<<<(n + 63) / 64, 64>>>(y, s);\n"
        "hipMemcpy(b, y, 4 * n, hipMemcpyDeviceToHost); }\n"
    )
    plan = found_plan(text)
    toml = plan_text(plan, {b: b.name for b in (*plan.inputs, *plan.outputs)}, plan.steps)
    assert toml.split("\n")[-1] == 'args = ["y", ["n", 2.0, "x"]]'
    assert tensors(plan) == [">x:f32[n]", "<y:f32[n]"]


def test_a_struct_with_more_than_that_is_refused_in_one_sentence() -> None:
    text = (
        "struct Shape { int n[4]; };\n__global__ void k(float* y, Shape s) { }\n"
        "int main() { float* y; hipMalloc(&y, 400); Shape s; k<<<1, 64>>>(y, s); }\n"
    )
    with pytest.raises(HostUnclear, match="the argument s of k is a Shape"):
        found_plan(text)
