"""KernelBench's problems as tasks: imported, and a right and two wrong kernels of each judged in the lab.

    python -m benchmarks.kernelbench --checkout DIR [--level N] [--first N] [--last N] [--results FILE]
    python -m benchmarks.kernelbench --page [--results FILE]

DIR is a checkout of github.com/ScalingIntelligence/KernelBench; nothing of it is stored here. A problem whose result is
known is not imported again. The right kernel is the generated seed; the wrong ones are it with the last element left
out, and with an operation changed. Tests are small, and the largest of them stands for the original sizes. `--page`
writes docs/kernelbench.md, and enters the figures in docs/results.md.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.__main__ import enter, machine
from benchmarks.figure import Figure
from benchmarks.results import Record
from imports.confined import Imported, imported_all
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task

CACHE = Path(".cache") / "benchmarks"
RESULTS = CACHE / "kernelbench.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "kernelbench.md"
BATCH = 10
GOALS = {1: 60, 2: 40}
GATE = (1e-4, 1e-4)
WRONG = (
    (r"    if \(at_ >= (.*)\) return;", r"    if (at_ >= \1 - 1) return;"),
    (r"(    \w+\[[^\n]*\] = )([^\n]*);", r"\1(\2) + 1;"),
)


def main() -> None:
    """Import and judge, or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--checkout", type=Path)
    parser.add_argument("--level", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--last", type=int, default=100)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.checkout is not None:
        measure(options.checkout, options.level, range(options.first, options.last + 1), options.results)
    if options.checkout is None and not options.page:
        parser.error("give --checkout DIR, a clone of github.com/ScalingIntelligence/KernelBench, or --page")
    if options.page:
        rows = known(options.results)
        PAGE.write_text(page(rows), encoding="utf-8")
        enter(Record("kernelbench", machine(), datetime.date.today().isoformat(), figures(rows)))


def figures(rows: Sequence[dict[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Give for each level the problems judged rightly beside those examined."""
    rows_of_figures = []
    for level in sorted({row["level"] for row in rows}):
        of_level = [row for row in rows if row["level"] == level]
        name, right = f"kernelbench.level_{level}.judged", sum(is_right(row) for row in of_level)
        goal = f">= {GOALS[level]}" if level in GOALS else ""
        rows_of_figures.append(
            json.loads(Figure(name, right, "problems", "problems examined", len(of_level), goal).line())
        )
    return tuple(rows_of_figures)


def known(path: Path) -> list[dict[str, Any]]:
    """Read the results so far, the latest of each problem, in order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    latest = {(row["level"], row["number"]): row for row in rows}
    return [latest[key] for key in sorted(latest)]


def measure(checkout: Path, level: int, numbers: range, results: Path) -> None:
    """Import and judge the problems of a level that are not known yet; each result is written at once."""
    folder = checkout / "KernelBench" / f"level{level}"
    if not folder.is_dir():
        sys.exit(f"{folder} is not there: --checkout takes a clone of github.com/ScalingIntelligence/KernelBench")
    files = {int(path.name.split("_")[0]): path for path in folder.glob("*_*.py")}
    digests = {(row["level"], row["number"]): row["digest"] for row in known(results)}
    texts = {n: files[n].read_text(encoding="utf-8") for n in numbers if n in files}
    todo = [n for n, text in texts.items() if digests.get((level, n)) != _digest(text)]
    toolchain = find_toolchain(CACHE / "toolchain")
    lab = LabEvaluator(toolchain, CACHE / "kernels", load_target("mi300x"), 7)
    for start in range(0, len(todo), BATCH):
        batch = todo[start : start + BATCH]
        imported = imported_all([request(level, n, files[n]) for n in batch], toolchain.cage)
        for number, task_or_reason in zip(batch, imported, strict=True):
            row: dict[str, Any] = {"level": level, "number": number, "name": files[number].stem}
            row["digest"] = _digest(texts[number])
            row |= (
                {"refused": task_or_reason.split(" cannot become a task: ", 1)[-1]}
                if isinstance(task_or_reason, str)
                else judged(lab, task_or_reason)
            )
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row)[:240], flush=True)


def judged(lab: LabEvaluator, imported: Imported) -> dict[str, Any]:
    """Give the verdict codes of the generated kernel and of the wrong ones made from it."""
    if "seed.hip" not in imported.files:
        return {"notes": list(imported.notes), "right": None, "wrong": []}
    with TemporaryDirectory() as folder:
        for name, content in imported.files.items():
            (Path(folder) / name).write_bytes(content)
        task = load_task(folder)
        small = replace(task, benchmarks=(replace(task.tests[-1], role="benchmark"),))
        seed = imported.files["seed.hip"].decode()
        right = _code(lab, small, seed)
        wrong = [_code(lab, small, text) for text in faulty(seed)]
    return {"notes": list(imported.notes), "right": right, "wrong": wrong}


def faulty(seed: str) -> Iterator[str]:
    """Yield wrong kernels made from a generated one."""
    for old, new in WRONG:
        matches = list(re.finditer(old, seed))
        last = matches[-1]
        yield seed[: last.start()] + last.expand(new) + seed[last.end() :]


def _code(lab: LabEvaluator, task: Task, source: str) -> str:
    return str(lab.verify(lab.prepare(source, task)).verdict.code)


def request(level: int, number: int, path: Path) -> dict[str, Any]:
    """Write the importer's request for one problem."""
    text = path.read_text(encoding="utf-8")
    title = path.stem.partition("_")[2].replace("_", " ").strip()
    origin = {"source": path.name, "form": "kernelbench", "licence": "MIT", "commit": "", "digest": _digest(text)}
    source = {"path": path.name, "text": text, "function": "", "specs": {}, "sizes": {}}
    return {"name": f"level{level}_{number}", "title": title, "source": source, "origin": origin, "gate": list(GATE)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def is_right(row: dict[str, Any]) -> bool:
    """Tell whether the right kernel was accepted and both wrong ones were not."""
    return bool(row.get("right") == "OK" and len(row["wrong"]) == len(WRONG) and "OK" not in row["wrong"])


def page(rows: Sequence[dict[str, Any]]) -> str:
    """Write docs/kernelbench.md."""
    lines = [
        "# KernelBench",
        "",
        "Problems of KernelBench (`github.com/ScalingIntelligence/KernelBench`, MIT) as tasks of this project, made by",
        "`python -m benchmarks.kernelbench --checkout DIR`. *Judged*: the lab accepted the generated kernel and",
        "refused two wrong ones made from it, with these codes, on small sizes; the original sizes are the task's",
        "benchmark. A problem that is not listed was not examined. `python -m benchmarks.kernelbench_eval` compares",
        "our judge with KernelBench's own on Hopper GPUs ([figures](results.md#kernelbench-on-hopper-gpus)).",
        "",
        "|level|examined|imported and sound|judged rightly|refused|",
        "|---|--:|--:|--:|--:|",
    ]
    for level in sorted({row["level"] for row in rows}):
        of_level = [row for row in rows if row["level"] == level]
        refused = [row for row in of_level if "refused" in row]
        right = sum(is_right(row) for row in of_level)
        lines.append(f"|{level}|{len(of_level)}|{len(of_level) - len(refused)}|{right}|{len(refused)}|")
    outcomes = dict[tuple[int, str], list[str]]()
    for row in rows:
        outcomes.setdefault((row["level"], _outcome(row)), []).append(row["name"])
    lines += ["", "|level|outcome|problems|", "|--:|---|---|"]
    lines += [f"|{level}|{outcome}|{', '.join(names)}|" for (level, outcome), names in outcomes.items()]
    return "\n".join(lines) + "\n"


def _outcome(row: dict[str, Any]) -> str:
    if "refused" in row:
        return "refused: " + str(row["refused"]).replace("|", "\\|")
    if row["right"] is None:
        return "imported; " + "; ".join(n for n in row["notes"] if n.startswith("no seed"))
    if is_right(row):
        return f"judged; wrong ones refused with {row['wrong'][0]} and {row['wrong'][1]}"
    return f"imported; the generated kernel has {row['right']}, the wrong ones {', '.join(row['wrong'])}"


if __name__ == "__main__":
    main()
