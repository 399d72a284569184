"""Random faults planted in the product's Python code, one at a time, and whether the file's own tests notice.

    python -m benchmarks.mutation [--count 37] [--seed 1] [--jobs 1]

A fault turns a comparison, `and`, `or`, `not`, an arithmetic operator or a small whole number into another one. The
tests of a file are those named for it in the folder of tests/unit that mirrors its own, and else the one that
tests/tree/covered.txt names. A fault is found when they fail, or do not end within ten times as long as before.
"""

from __future__ import annotations

import ast
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.collection import number
from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[1]
COVERED = ROOT / "tests" / "tree" / "covered.txt"
LONGER, LEAST_S = 10.0, 60.0
COMPARED = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In},
}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult}


@dataclass(frozen=True)
class Mutant:
    """One fault: the file, the line, what stands there, and the whole text with the fault."""

    path: str
    line: int
    change: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """A mutant, its tests, and whether they found it; None where they fail without it or there are none."""

    mutant: Mutant
    tests: tuple[str, ...]
    is_found: bool | None


def mutants(seed: int) -> Iterator[Mutant]:
    """Draw faults without end, each in a file drawn by its number of places."""
    rng = random.Random(seed)
    places = [(path, index) for path in _files() for index in range(len(_places(ast.parse(_text(path)))))]
    while True:
        path, index = rng.choice(places)
        tree = ast.parse(_text(path))
        node = _places(tree)[index]
        line, before = getattr(node, "lineno", 0), ast.unparse(node)
        change_node(node)
        yield Mutant(path, line, f"{before}  ->  {ast.unparse(node)}", ast.unparse(tree))


def change_node(node: ast.AST) -> None:
    """Plant the fault in place."""
    match node:
        case ast.Compare(ops=[op, *_]):
            node.ops[0] = COMPARED[type(op)]()
        case ast.BoolOp(op=op):
            node.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            node.operand = ast.UnaryOp(ast.Not(), operand)
        case ast.BinOp(op=op):
            node.op = COMPUTED[type(op)]()
        case ast.Constant(value=int(value)):
            node.value = value + 1


def own_tests(path: str) -> tuple[str, ...]:
    """List the tests of a file: those of its name, else the one that the list names."""
    place = Path(path)
    folder, stem = ROOT / "tests" / "unit" / place.parent, place.stem
    named = sorted((*folder.glob(f"test_{stem}.py"), *folder.glob(f"test_{stem}_*.py")))
    if named:
        return tuple(str(test.relative_to(ROOT)) for test in named)
    rows = [line.split() for line in COVERED.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return tuple(row[1] for row in rows if len(row) == 2 and row[0] == path)


def judged(mutant: Mutant, folder: Path) -> Outcome:
    """Run the file's tests on a copy of the tree, first as it is and then with the fault."""
    tests = own_tests(mutant.path)
    begun = time.monotonic()
    if not tests or not _passes(folder, tests, 1200.0):
        return Outcome(mutant, tests, None)
    limit_s = max(LEAST_S, LONGER * (time.monotonic() - begun))
    file = folder / mutant.path
    original = file.read_text(encoding="utf-8")
    file.write_text(mutant.text, encoding="utf-8")
    try:
        return Outcome(mutant, tests, not _passes(folder, tests, limit_s))
    finally:
        file.write_text(original, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Judge, and print a row for each fault and the share that was found."""
    count, jobs = int(number(words, "--count", 37)), int(number(words, "--jobs", 1))
    drawn = mutants(int(number(words, "--seed", 1)))
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(jobs) as pool:
        folders = [_copy(Path(place) / str(index)) for index in range(jobs)]

        def rows(index: int) -> list[Outcome]:
            return [_told(judged(mutant, folders[index])) for mutant in picked[index::jobs]]

        picked = [next(drawn) for _ in range(count)]
        outcomes = [row for part in pool.map(rows, range(jobs)) for row in part]
    decided = [row for row in outcomes if row.is_found is not None]
    print(f"{sum(bool(row.is_found) for row in decided)} of {len(decided)} faults found by the file's own tests")
    return 0


def _told(outcome: Outcome) -> Outcome:
    words = {True: "found", False: "MISSED", None: "no tests that pass"}[outcome.is_found]
    print(f"{words:8s} {outcome.mutant.path}:{outcome.mutant.line}: {outcome.mutant.change[:150]}", flush=True)
    return outcome


def _files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", *NAMES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\n") if name.endswith(".py") and not name.endswith("/reference.py")]


def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _places(tree: ast.AST) -> list[ast.AST]:
    """List the nodes inside of functions that a fault can change."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    places = {id(node): node for function in functions for node in ast.walk(function) if _can_change(node)}
    return list(places.values())


def _can_change(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[op, *_]):
            return type(op) in COMPARED
        case ast.BinOp(op=op, left=left):
            return type(op) in COMPUTED and not isinstance(left, ast.Constant | ast.JoinedStr)
        case ast.Constant(value=int(value)):
            return not isinstance(value, bool) and abs(value) < 1000
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
    return False


def _copy(folder: Path) -> Path:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\n")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    return folder


def _passes(folder: Path, tests: Sequence[str], limit_s: float) -> bool:
    options = ("-n0", "-x", "-q", "-p", "no:cacheprovider", "-m", "not long")
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=folder,
            capture_output=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
