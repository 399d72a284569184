"""`isa` on the real compiler: the listing beside its lines, and one sentence for whatever is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.cli import run_command

ROOT = Path(__file__).resolve().parents[2]
SEED = ROOT / "tasks" / "row_softmax" / "seed.hip"


def test_every_instruction_stands_under_its_source_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["isa", str(SEED)]) == 0
    out = capsys.readouterr().out
    source = SEED.read_text().split("\n")
    headings = re.findall(r"^ +(\d+) \| (.*)$", out, re.MULTILINE)
    assert headings
    assert all(source[int(number) - 1].strip() == line for number, line in headings)
    last = next(n for n, text in enumerate(source, 1) if "/ sum" in text)
    assert re.search(rf"^ +{last} \| .*\n(?: .*\n)*? +\| +global_store_dword ", out, re.MULTILINE)  # inside its loop
    assert "Instruction mix" in out
    assert re.search(r"^  valu +\d+ +\d+$", out, re.MULTILINE)
    assert "\x1b" not in out


def test_the_json_answer_counts_what_it_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["isa", str(SEED), "--task", "row_softmax", "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert kernel["name"] == "row_softmax"
    assert kernel["resources"]["vgpr"] > 0
    classes = [row["class"] for row in kernel["listing"]]
    assert kernel["instructions"] == {name: classes.count(name) for name in set(classes)}
    assert max(row["loop_depth"] for row in kernel["listing"]) >= 1


def test_one_kernel_of_several_and_a_tunable(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = SEED.read_text().replace("+++*/", "[tunables]\nWIDTH = [1, 2]\n+++*/", 1)
    text += '\nextern "C" __global__ void second(float* y) { y[threadIdx.x] = WIDTH + 40; }\n'
    (tmp_path / "two.hip").write_text(text)
    assert run_command(["isa", str(tmp_path / "two.hip"), "--kernel", "second", "--set", "WIDTH=2", "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert kernel["name"] == "second"
    assert any("0x42280000" in row["text"] for row in kernel["listing"])  # 42.0f


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["isa", "nothing.hip"], 2, "cannot be read"),
        (["isa", str(SEED), "--kernel", "nope"], 2, "no kernel 'nope'; it has row_softmax"),
        (["isa", str(SEED), "--target", "mi9"], 2, "there is no target 'mi9'"),
        (["isa", str(SEED), "--target", "h200"], 2, "machine code is shown for AMD GPUs only, and h200 is none"),
        (["isa", str(SEED), "--task", "no_such_task"], 2, "no_such_task"),
        (["isa", str(SEED), "--set", "WIDTH"], 2, "NAME=VALUE"),
    ],
)
def test_bad_input_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert run_command(arguments) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no plan", "launch plan"),
        (SEED.read_text().replace("__global__", "__globl__", 1), "__globl__"),
        (SEED.read_text().replace("#include", "#inclube", 1), "invalid preprocessing directive"),
    ],
)
def test_a_file_that_does_not_compile_shows_where(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "bad.hip").write_text(text)
    assert run_command(["isa", str(tmp_path / "bad.hip")]) == 1
    out = capsys.readouterr().out
    assert "bad.hip: does not compile" in out
    assert message in out
    assert run_command(["isa", str(tmp_path / "bad.hip"), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["kernels"]) == (False, [])
    assert any(message in finding["message"] for finding in answer["findings"])
