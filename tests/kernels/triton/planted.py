"""Reads the corpus: every file gives a Triton kernel with one planted fault, and its right twin.

The first line names the task. Lines that end in `# -` stand in the faulty kernel only, lines that end in `# +` in the
twin only; the lines of the other one become empty, so both have the same numbers. `# BUG: KIND` marks the line that a
judge has to name; of a wrong result, and of elements that nobody writes, it is the line to mend.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
_MARK = re.compile(r"\s*# BUG: (\w+)")


@dataclass(frozen=True)
class PlantedKernel:
    """One kernel file; `kind` and `line` say what must be found in it, for a twin they are empty."""

    name: str
    task: str
    source: str
    kind: str = ""
    line: int = 0

    @property
    def id(self) -> str:
        return self.name if self.kind else f"{self.name} (twin)"


def pairs() -> Iterator[tuple[PlantedKernel, PlantedKernel]]:
    """Every faulty kernel with its twin."""
    for path in sorted(FOLDER.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        task = text.partition("\n")[0].removeprefix("# task: ").strip()
        faulty, right = _variant(text, "# -", "# +"), _variant(text, "# +", "# -")
        (mark,) = ((n, m[1]) for n, line in enumerate(faulty, 1) if (m := _MARK.search(line)))
        source = "\n".join(_MARK.sub("", line) for line in faulty)
        yield (
            PlantedKernel(path.stem, task, source, mark[1], mark[0]),
            PlantedKernel(path.stem, task, "\n".join(right)),
        )


def _variant(text: str, kept: str, dropped: str) -> list[str]:
    return ["" if line.endswith(dropped) else line.removesuffix(kept).rstrip() for line in text.split("\n")]
