"""What a file leaves open is asked for in order, and written into one whole command."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from app.commands import check
from app.open_questions import PLACEHOLDER, command_words, next_question, refuse_open, with_offers
from app.optimising import UserFile, gate_of
from records.errors import UsageError

KERNEL = """
__global__ void scale(const float* x, const float* bias, float* y, float a, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) y[i] = a * x[i] + bias[i % cols];
}
"""
HOST = "int main() { scale<<<1, 256>>>(x, y, 1.0f, 4, 4); }"
FUNCTION = "import numpy as np\ndef blend(x, bias, alpha=0.5, axis=-1):\n    return x * alpha + bias\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("f.py", FUNCTION, "--input x=f32[rows,cols] --input bias=f32[cols] --size rows=4096 --size cols=4096"),
        ("two.py", FUNCTION + "def other(x):\n    return x\n", "two.py:other --input x=f32[rows,cols]"),
        ("drawn.py", FUNCTION + "def get_inputs():\n    return [np.ones((4, 4)), np.ones(4)]\n", ""),
        (
            "bare.hip",
            KERNEL,
            "--input x=f32[rows,cols] --input bias=f32[cols] --input y=f32[rows,cols] --input a=1.0 --size rows=4096 "
            f"--size cols=4096 --reference {PLACEHOLDER} --grid 'ceil_div(rows * cols, 256)' --block 256",
        ),
        ("whole.cu", KERNEL + HOST, f"--reference {PLACEHOLDER}"),
        ("planned.hip", f"/*+++\n+++*/\n{KERNEL}", "--task REFERENCE.py:FUNCTION"),
    ],
)
def test_the_open_questions_of_a_file_make_a_whole_command(name: str, text: str, options: str, folder: Path) -> None:
    (folder / name).write_text(text)
    complete, asked = with_offers(UserFile(name))
    assert bool(asked) == bool(options) and next_question(complete) is None
    words = shlex.split(command_words(complete))
    assert all(word in words for word in shlex.split(options))
    if asked:
        with pytest.raises(UsageError, match="optimise") as error:
            refuse_open(UserFile(name), "kernel-scientist optimise")
        assert command_words(complete) in str(error.value)


def test_what_is_given_is_not_asked_for(folder: Path) -> None:
    (folder / "f.py").write_text(FUNCTION)
    given = UserFile("f.py:blend", inputs=("x=f32[n,8]", "bias=f32[8]"), sizes=("n=64",))
    assert next_question(given) is None
    question = next_question(UserFile("f.py:blend", inputs=("bias=f32[8]",), sizes=("n=64",)))
    assert question is not None and question.subject == "what x is"
    with pytest.raises(UsageError, match="takes NAME=TYPE"):
        question.answered("f99[n]")
    assert question.answered("f32[n,8]").inputs == ("bias=f32[8]", "x=f32[n,8]")


@pytest.mark.parametrize(
    ("source", "title"),
    [("my-op.v2.hip", "my_op"), ("3d.cu", "k_3d"), ("f.py", "blend"), ("f.py:blend", "blend"), ("row_softmax", None)],
)
def test_a_result_has_a_name_that_a_task_can_have(source: str, title: str | None, folder: Path) -> None:
    (folder / source.partition(":")[0]).write_text(FUNCTION) if title else None
    assert UserFile(source).title == (title or source)
    assert UserFile(source, name="mine").title == "mine"


def test_what_is_nothing_is_refused_with_the_names_of_tasks(folder: Path) -> None:
    with pytest.raises(UsageError, match="row_softmax"):
        next_question(UserFile("missing.py"))
    assert gate_of("1e-3") == (1e-3, 1e-3) and gate_of("1e-3,1e-5") == (1e-3, 1e-5)
    for text in ("much", "2", "1,2,3"):
        with pytest.raises(UsageError, match="RTOL"):
            gate_of(text)


def test_check_names_the_way_for_a_kernel_without_a_plan(folder: Path) -> None:
    (folder / "bare.hip").write_text(KERNEL)
    with pytest.raises(UsageError, match="optimise bare"):
        check.command(folder.joinpath("bare.hip").relative_to(folder))
