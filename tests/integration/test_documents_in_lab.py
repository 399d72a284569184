"""The outputs that the documents show of faulty kernels are what the lab prints today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.cli import run_command

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(autouse=True)
def workdir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiler_cache: Path) -> Path:
    """Commands run in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    return tmp_path


def said(text: str) -> str:
    """The first line and the finding of an output, on one line; which workgroup met the fault first is chance."""
    first, _, tail = text.strip().partition("\n")
    finding = re.split(r"\n {5,}\d+ \||\n\n", tail.strip())[0]
    return re.sub(r"workgroup \(\d+,\d+,\d+\)", "a workgroup", " ".join(f"{first} {finding}".split()))


@pytest.mark.parametrize(
    ("document", "file", "right", "wrong"),
    [
        ("a-kernel-fails.md", "mine.hip", "j < cols; j += 64) y[j]", "j <= cols; j += 64) y[j]"),
        ("a-kernel-fails.md", "wrong.hip", "j = lane; j < cols; j += 64) sum", "j = lane + 64; j < cols; j += 64) sum"),
        (
            "change-a-rule-of-the-lab.md",
            "mask.hip",
            "__shfl_xor(top, step)",
            "__shfl_xor_sync(0xffffffffull, top, step)",
        ),
    ],
)
def test_the_finding_in_the_document_is_the_labs(
    document: str, file: str, right: str, wrong: str, workdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = re.findall(r"```cpp\n(.*?)```", (DOCS / "candidate.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    assert kernel.count(right) == 1
    (workdir / file).write_text(kernel.replace(right, wrong), encoding="utf-8")
    assert run_command(["check", file, "--task", "row_softmax"]) == 1
    quoted = (DOCS / document).read_text(encoding="utf-8").split(f"{file}: rejected", 1)[1]
    assert said(capsys.readouterr().out) == said(f"{file}: rejected{quoted.split('```')[0]}")
