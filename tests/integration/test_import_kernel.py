"""HIP and CUDA files become tasks by their host halves, with their own kernels as seeds that pass."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from app.cli import run_command
from tasks.linter import lint
from tasks.loader import load_task

HOSTS = Path(__file__).parents[1] / "kernels" / "hosts"
HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="the extra `torch` is not installed")


def made(tmp_path: Path, name: str, *more: str) -> tuple[int, Path]:
    folder = tmp_path / "made"
    return run_command(["tasks", "new", "made", "--from", str(HOSTS / name), "--out", str(folder), *more]), folder


def test_all_that_is_missing_is_named_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, folder = made(tmp_path, "shift_rows.cpp")
    stderr = capsys.readouterr().err
    for part in ("the size rows", "the size cols", "the shape of shift", "--reference FILE.py", "--size rows=N,cols=N"):
        assert part in stderr
    assert code == 2 and not folder.exists() and "Traceback" not in stderr


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("bad_no_launch.hip", [], "no function of it launches a kernel"),
        ("scaled_sum.hip", ["--argv", "a 'b"], "cannot be taken apart"),
        ("scaled_sum.hip", ["--reference", "nowhere.py"], "nowhere.py is not there"),
        ("scaled_sum.hip", ["--reference", str(HOSTS / "row_sums.py:other")], "has no function other"),
        ("row_sums.cu", ["--reference", str(HOSTS / "row_sums.cu")], "is not Python"),
        ("row_sums.cu", ["--reference", str(HOSTS / "row_sums.py"), "--input", "inp=f32[M,K]"], "names K, which is no"),
    ],
)
def test_a_bad_file_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, more: list[str], message: str
) -> None:
    code, folder = made(tmp_path, name, *more)
    text = capsys.readouterr().err
    assert (code, message in text.splitlines()[-1], folder.exists()) == (2, True, False)


def test_options_of_hip_files_are_refused_for_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = made(tmp_path, "row_sums.py", "--reference", str(HOSTS / "row_sums.py"))
    assert code == 2 and "--reference, --output and --argv are for HIP files" in capsys.readouterr().err


def test_a_file_becomes_a_task_and_its_own_kernel_the_seed(tmp_path: Path) -> None:
    code, folder = made(tmp_path, "scaled_sum.hip", "--reference", str(HOSTS / "scaled_sum.py"))
    assert code == 0
    task = load_task(folder)
    assert [t.name for t in task.inputs] == ["x", "y"] and [t.initial for t in task.outputs] == ["y"]
    assert lint(task) == () and [c.dims for c in task.benchmarks] == [{"size": 100000}]
    seed = (folder / "seed.hip").read_text()
    assert seed.endswith((HOSTS / "scaled_sum.hip").read_text()) and '"new_y", "size:u32"]' in seed
    assert task.provenance is not None and task.provenance.form == "hip"
    assert (folder / "original.hip").read_text() == (HOSTS / "scaled_sum.hip").read_text()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("row_sums.cu", []),
        ("tiled_product.hip", []),
        ("prefix_sums.hip", []),
        ("managed_clip.cu", []),
        ("wide_blend.cu", []),
        pytest.param("heat_rod.hip", [], marks=needs_torch),
        (
            "shift_rows.cpp",
            ["--size", "rows=512,cols=400", "--input", "x=f32[rows,cols]", "--input", "shift=f32[cols]"],
        ),
    ],
)
def test_each_style_of_host_half_becomes_a_task(tmp_path: Path, name: str, more: list[str]) -> None:
    code, folder = made(tmp_path, name, "--reference", str(HOSTS / f"{Path(name).stem}.py"), *more)
    assert code == 0 and lint(load_task(folder), plants=False) == ()


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("def f(a, x, y):\n    return a * x - y\n", "does not say what the file computes"),
        ("def f(a, x, y, z):\n    return a * x + y\n", "what the reference's parameter z is"),
        ("def f(a, x, y):\n    return (a * x + y)[:3]\n", "returns 3 elements for new_y"),
        ("def f(a, x, y):\n    return x, y\n", "returns 2 values"),
    ],
)
def test_a_reference_of_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reference: str, message: str
) -> None:
    (tmp_path / "other.py").write_text(reference)
    code, folder = made(tmp_path, "scaled_sum.hip", "--reference", str(tmp_path / "other.py"))
    assert code == 2 and message in capsys.readouterr().err and not folder.exists()
