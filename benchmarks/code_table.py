"""The shape of this tree in figures that can be taken of any Python project.

    python -m benchmarks.code_table [--run]

With `--run` a warm run of one generation is traced as well: the files and functions that it goes through.
"""

from __future__ import annotations

import ast
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[1]
VAGUE = frozenset(
    word
    for line in (ROOT / "tests" / "tree" / "vague_names.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for word in line.split()
)
PRODUCT = ("kernel_scientist", *NAMES)
CODE = frozenset({".py", ".h", ".cpp", ".c", ".hip", ".js"})
COMMITS = 100  # the last ones
WORDS = 5  # of a sentence that a test asserts
TRACED = """
import sys, threading
from pathlib import Path
root, seen = sys.argv.pop(1), set()
def note(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(root) and ".venv" not in frame.f_code.co_filename:
        seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))
sys.setprofile(note)
threading.setprofile(note)
from app.cli import main
try:
    main()
finally:
    sys.setprofile(None)
    calls = [row for row in seen if not row[1].startswith("<module>")]
    print("TRACED", len({file for file, _ in calls}), len(calls), file=sys.stderr)
"""


def main(words: Sequence[str]) -> int:
    """Print a row for each figure."""
    for name, value in figures():
        print(f"{name:72s} {value}")
    if "--run" in words:
        files, functions = traced_run()
        print(f"{'files and functions in a warm run of one generation':72s} {files}, {functions}")
    return 0


def figures() -> Iterator[tuple[str, str]]:
    """Yield the figures that need no run."""
    trees = [ast.parse(text) for text in _texts(PRODUCT, ".py")]
    yield "assigned names of the product that say nothing", f"{share_of_vague(trees):.1%}"
    documented = [doc for tree in trees for doc in _docstrings(tree)]
    articles = sum(bool(re.match(r"(A|An|The)\b", doc)) for doc in documented)
    yield "function docstrings that begin with an article", f"{articles / len(documented):.1%}"
    lengths = [len(subject) for subject in _git("log", f"-{COMMITS}", "--no-merges", "--format=%s")]
    yield f"subjects of the last {COMMITS} commits, characters: median, maximum", _pair(lengths)
    sizes = _commit_sizes()
    yield (
        "of these commits, changes of more than 1,000 lines: median lines, such commits",
        (f"{statistics.median(sizes):.0f}, {sum(size > 1000 for size in sizes)}"),
    )
    yield "words: README, docs", f"{_words(['README.md'])}, {_words(_git('ls-files', 'docs/*.md'))}"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = changes.partition("## [Unreleased]")[2].partition("\n## [")[0]
    yield (
        "changelog: unreleased lines, releases",
        f"{len(unreleased.split(chr(10)))}, {changes.count(chr(10) + '## [') - 1}",
    )
    yield "lines of the product: Python, C++, headers and JavaScript", f"{_lines(PRODUCT)}"
    yield "lines of benchmarks, of tests", f"{_lines(['benchmarks'])}, {_lines(['tests'])}"
    tests = [node for text in _texts(["tests"], ".py") for node in ast.walk(ast.parse(text)) if _is_test(node)]
    yield (
        f"test functions; of these assert a sentence of {WORDS} words or more",
        (f"{len(tests)}, {sum(_asserts_a_sentence(node) for node in tests)}"),
    )


def share_of_vague(trees: Sequence[ast.AST]) -> float:
    """Return the share of assigned names that say nothing."""
    names = [name for tree in trees for name in assigned_names(tree)]
    return sum(name in VAGUE for name in names) / max(1, len(names))


def assigned_names(tree: ast.AST) -> Iterator[str]:
    """Yield locals, loop variables, parameters and fields, each as often as one is assigned."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
            yield node.arg


def traced_run() -> tuple[int, int]:
    """Count files and functions of ours that a warm run of one generation by the playbook goes through."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "KERNEL_SCIENTIST_RUNS_FOLDER": folder, "PYTHONPATH": str(ROOT)}
        words = ["run", "row_softmax", "--author", "playbook", "--generations", "1"]
        for program in ([sys.executable, "-m", "app"], [sys.executable, "-c", TRACED, str(ROOT)]):
            ended = subprocess.run(
                [*program, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
            )
    found = re.search(r"TRACED (\d+) (\d+)", ended.stderr)
    if found is None:
        raise SystemExit(f"the traced run ended with {ended.returncode}: {ended.stderr[-400:]}")
    return int(found[1]), int(found[2])


def _texts(folders: Sequence[str], suffix: str) -> Iterator[str]:
    for name in _git("ls-files", *folders):
        if name.endswith(suffix):
            yield (ROOT / name).read_text(encoding="utf-8")


def _lines(folders: Sequence[str]) -> int:
    files = [ROOT / name for name in _git("ls-files", *folders) if Path(name).suffix in CODE]
    return sum(path.read_text(encoding="utf-8", errors="replace").count("\n") for path in files)


def _words(names: Sequence[str]) -> int:
    return sum(len((ROOT / name).read_text(encoding="utf-8").split()) for name in names)


def _git(*words: str) -> list[str]:
    said = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [line for line in said.split("\n") if line]


def _commit_sizes() -> list[int]:
    sizes = list[int]()
    for line in _git("log", f"-{COMMITS}", "--no-merges", "-M", "--format=format:commit", "--numstat"):
        if line == "commit":
            sizes.append(0)
        else:
            added, removed, _ = line.split("\t", 2)
            sizes[-1] += sum(int(count) for count in (added, removed) if count.isdecimal())
    return sizes


def _pair(values: Sequence[int]) -> str:
    return f"{statistics.median(values):.0f}, {max(values)}"


def _docstrings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            properties = {"property", "computed_once", "cached_property"}
            if not properties & {name.id for name in node.decorator_list if isinstance(name, ast.Name)}:
                yield text


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")


def _asserts_a_sentence(test: ast.AST) -> bool:
    asserted = [node.test for node in ast.walk(test) if isinstance(node, ast.Assert)]
    texts = [n.value for node in asserted for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return any(isinstance(text, str) and len(re.findall(r"[A-Za-z]{2,}", text)) >= WORDS for text in texts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
