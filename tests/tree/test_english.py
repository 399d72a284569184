"""The English of docstrings, messages and documents: plain words. Ruff checks the first word of a function's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kernel_scientist", *NAMES, "benchmarks", "examples")
DOCUMENTS = sorted(
    path.relative_to(ROOT)
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("agents/**/*.md.j2"))  # no look into .venv
)
PLAIN = {  # a private word, and the plain one
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\banew\b": "again",
    r"\b(held|holds?|holding) (\w+ )?against\b": "check against, compare with, blame for",
    r"\btells\b": "say, report, show",
    r"\b[Aa] MI300X\b": "an MI300X",
}


def texts(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Each string of a module with its line: docstrings, messages and their parts."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def private_words(text: str) -> list[str]:
    """Words of a text that have a plainer one."""
    return [f"{match.group()}: {plain}" for word, plain in PLAIN.items() for match in re.finditer(word, text)]


@pytest.mark.parametrize("package", PACKAGES)
def test_words_of_the_code_are_plain(package: str) -> None:
    paths, offences = sorted((ROOT / package).rglob("*.py")), list[str]()
    for path in paths:
        module = ast.parse(path.read_text(encoding="utf-8"))
        offences += [f"{path}:{line}: {found}" for line, text in texts(module) for found in private_words(text)]
    assert paths and offences == []


def test_documents_have_plain_words() -> None:
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in DOCUMENTS}
    assert len(texts) > 30
    assert [f"{path}: {found}" for path, text in texts.items() for found in private_words(text)] == []


def test_the_rules_find_what_they_forbid() -> None:
    assert len(private_words("a MI300X tells us anew: it was mended and held against it")) == 5
    assert private_words("an MI300X; a 2D grid holds; they amended it") == []
