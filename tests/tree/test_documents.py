"""The examples in the documents work as they stand there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from records.code_meanings import CODES
from records.evaluation import FINDING_KINDS
from sandbox.candidate.fit import check
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import resolve
from tasks.linter import lint
from tasks.loader import load_task

ROOT = Path(__file__).resolve().parents[2]


def block(document: str, language: str, containing: str = "") -> str:
    """The first fenced block of that language that holds the text."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    return next(b for b in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if containing in b)


def test_the_candidate_in_its_document_fits_its_task() -> None:
    candidate, task = parse(block("candidate.md", "cpp")), load_task("row_softmax")
    check(candidate, task)
    resolved = resolve(candidate, task, task.tests[0])
    assert resolved.launches[0].block == (64, 4, 1)


def test_the_task_in_its_document_loads_and_is_sound(tmp_path: Path) -> None:
    for name, language in (("task.toml", "toml"), ("reference.py", "python"), ("seed.hip", "cpp")):
        (tmp_path / name).write_text(block("adding-a-task.md", language), encoding="utf-8")
    task = load_task(tmp_path)
    assert lint(task) == ()
    check(parse((tmp_path / "seed.hip").read_text(encoding="utf-8")), task)


def test_the_codes_in_the_document_are_the_codes() -> None:
    text = (ROOT / "docs/using.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(OK|[ABC]\.\d)` \|", text, re.MULTILINE)) == set(CODES)


def test_every_kind_of_finding_has_advice_and_no_other() -> None:
    text = (ROOT / "docs/a-kernel-fails.md").read_text(encoding="utf-8")
    rows = text.split("## Findings, and what to do")[1].split("## ")[0].splitlines()
    named = [kind for row in rows if row.startswith("| `") for kind in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(named) == sorted(FINDING_KINDS)


def test_the_rule_that_the_walk_changes_stands_in_its_file() -> None:
    before = [line[1:] for line in block("change-a-rule-of-the-lab.md", "diff").splitlines() if line[0] in " -"]
    assert "\n".join(before) in (ROOT / "sandbox/machine/instrumented/wave_masks.py").read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    """Every `kernel-scientist ...` line of the documents' code blocks, as words."""
    found = []
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for body in re.findall(r"```\w*\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            found += [
                line.removeprefix("$ ").split("#")[0].split()[1:]
                for line in body.splitlines()
                if re.match(r"(?:\$ )?(?:\./)?kernel-scientist [a-z]", line)
            ]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_in_documents_exist_with_their_options(words: list[str]) -> None:
    told = ""
    for depth in range(1, len(words) + 1):
        if depth > 2 or words[depth - 1].startswith(("-", '"')) or not words[depth - 1].isalpha():
            break
        result = CliRunner().invoke(app, [*words[:depth], "--help"])
        if result.exit_code == 0:
            told = result.output
    assert told, f"no such command: {words}"
    for word in words:
        if word.startswith("-"):
            assert word in told


def test_the_front_matter_in_the_document_is_read(tmp_path: Path) -> None:
    from documents.reader import DocumentReader

    text = (ROOT / "docs/adding-documents.md").read_text(encoding="utf-8")
    example = next(b for b in re.findall(r"```\n(.*?)```", text, re.DOTALL) if b.startswith("---"))
    (tmp_path / "note.md").write_text(example + "\n# Banks\n\nThere are 32.\n", encoding="utf-8")
    note = DocumentReader().read(tmp_path / "note.md")
    assert (note.arch, note.licence, note.tags[:4]) == ("gfx942", "Apache-2.0", ("lds", "bank", "conflict", "swizzle"))
    assert {"reading", "tile", "columns", "slow", "served"} < set(note.tags[4:])  # of what it is asked for


def test_the_targets_of_the_document_are_the_files() -> None:
    text = (ROOT / "docs/adding-a-target.md").read_text(encoding="utf-8")
    fields = set(
        re.findall(
            r"`\[?([a-z_]+)\]?`", " ".join(line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
        )
    )
    for path in (ROOT / "sandbox/targets").glob("*.toml"):
        stated = set(tomllib.loads(path.read_text(encoding="utf-8")))
        assert stated | {"clock"} == fields  # one without a clock has no predicted times
