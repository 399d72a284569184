"""Counts how many HIP and CUDA files of a folder give a launch plan by the execution of their host halves.

    python -m benchmarks.host_plans FOLDER [--list FILE] [--sizes]

FOLDER is a checkout of yours; nothing of it is stored here. Without a list (paths below FOLDER, one a line) every file
with a kernel's launch and a `main` is tried. A line a file: the sizes that may change and the tensors, or the reason
why there is no plan. `--sizes` counts plans with a size that may change alone: only they become tasks.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from imports.hosts.found_plan import HostSource, HostWishes, found_plan
from imports.hosts.host_compiler import HostCompiler
from imports.hosts.host_plan import HostPlan
from imports.hosts.local_headers import with_headers
from imports.hosts.memory import HostUnclear
from imports.hosts.plan_text import plan_text
from records.errors import PlanError
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.parse import parse

CACHE = Path(".cache") / "benchmarks"
SOURCES = (".cu", ".hip", ".cpp", ".cc")


def main() -> None:
    """Try the files and print the count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", type=Path)
    parser.add_argument("--sizes", action="store_true")
    options = parser.parse_args()
    compiler, work = HostCompiler(find_toolchain(CACHE / "toolchain")), CACHE / "work"
    work.mkdir(parents=True, exist_ok=True)
    outcomes = Counter[bool]()
    for path in _files(options.folder, options.list):
        is_plan, words = outcome(path, compiler, work, needs_size=options.sizes)
        outcomes[is_plan] += 1
        print(f"{'plan' if is_plan else 'none'}  {path.relative_to(options.folder)}: {words}", flush=True)
    print(f"{outcomes[True]} of {outcomes.total()} files give a plan")


def outcome(path: Path, compiler: HostCompiler, work: Path, needs_size: bool = False) -> tuple[bool, str]:
    """Tell whether a file gives a plan that a candidate may have, and what it is or why there is none."""
    try:
        text, _ = with_headers(path, _read(path), _read)
        plan = found_plan(HostSource(text, path), compiler, HostWishes(), work)
        names = {b: b.name for b in (*plan.inputs, *plan.outputs, *plan.workspaces)}
        parse(f"/*+++\n{plan_text(plan, names, plan.steps)}\n+++*/\n{text}")
    except (HostUnclear, PlanError) as error:
        return False, str(error)
    if not plan.dims and needs_size:
        return False, "its sizes cannot change"
    return True, _described(plan)


def _described(plan: HostPlan) -> str:
    sizes = ", ".join(f"{n} = {v}" for n, v in plan.dims.items()) or "no size that may change"
    tensors = [*(f"> {b.name}" for b in plan.inputs), *(f"< {b.name}" for b in plan.outputs)]
    return f"{sizes}; {' '.join(tensors)}"


def _files(folder: Path, listed: Path | None) -> Iterator[Path]:
    if listed is not None:
        yield from (folder / line for line in listed.read_text(encoding="utf-8").splitlines() if line)
        return
    for path in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES and p.is_file()):
        text = _read(path)
        if re.search(r"<<<|hipLaunchKernel", text) and re.search(r"\bmain\s*\(", text):
            yield path


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    main()
