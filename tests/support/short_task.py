"""A shipped task whose kernels are judged in a second: where a test needs a run, and not its benchmark's size."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

from tasks.loader import FOLDER

LARGEST = 25_000  # elements of a test that stays


def short_task(name: str, folder: Path, **dims: int) -> Path:
    """A copy of the task in this folder with one benchmark of these dims: a kernel that leads meets all in little.

    Only its plain seed stays. Its large tests are left out; the shapes that no file lists are as large as the tests.
    """
    shutil.copytree(FOLDER / name, folder, ignore=shutil.ignore_patterns("seed_*.hip"))
    text = _without_large_tests((folder / "task.toml").read_text(encoding="utf-8"))
    head, *_, last = re.split(r"^\[\[benchmark\]\]$", text, flags=re.M)
    tail = re.split(r"^(?=\[)", last, maxsplit=1, flags=re.M)[1]
    benchmark = "\n".join(["[[benchmark]]", *(f"{name} = {size}" for name, size in dims.items())])
    (folder / "task.toml").write_text(f"{head}{benchmark}\n\n{tail}", encoding="utf-8")
    return folder


def _without_large_tests(text: str) -> str:
    head, *tests = re.split(r"^(?=\[)", text, flags=re.M)
    return head + "".join(part for part in tests if not part.startswith("[[test]]") or _size(part) <= LARGEST)


def _size(part: str) -> int:
    return math.prod(int(size) for size in re.findall(r"^\w+ = (\d+)$", part, flags=re.M))
