"""What a GPU answered in a campaign, answered again without one: by kernel and tunables, nothing else.

A gzip file of JSON lines as `benchmarks.on_h200_author` writes them: the device, then one answer a line. A tuner that
has changed since may ask for other estimates, which are refused then, so that it ranks what was timed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.on_h200_author import named
from records.codec import from_plain
from records.evaluation import Comparison, Evaluation, Finding
from sandbox.by_purpose import ByPurpose
from sandbox.candidate.codes import rejected
from sandbox.candidate.prepare import Prepared, Preparer
from sandbox.walk import Purpose
from tasks.task import Task

DATA = Path(__file__).parents[1] / "data"


class RecordedDevice(ByPurpose):
    """The sandbox of a replay; a question that the recording lacks, unless for an estimate, is an error of the test."""

    def __init__(self, file: str) -> None:
        first, *rows = gzip.decompress((DATA / file).read_bytes()).decode().splitlines()
        self.device: str = json.loads(first)["device"]
        self._rows = {(row["purpose"], *row["kernels"]): row["answer"] for row in map(json.loads, rows)}
        self.left = sum(purpose != "estimate" for purpose, *_ in self._rows)  # answers that nobody asked for yet
        self._keys = {names[0]: answer["key"] for (_, *names), answer in self._rows.items() if len(names) == 1}
        self._asked: set[tuple[str, ...]] = set()
        self._preparer = Preparer()

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """As on the GPU."""
        return self._preparer.prepare(source, task, tunables)

    def key(self, prepared: Prepared) -> str:
        """The key that the GPU's judge gave the kernel; its own name for one that it was not asked about."""
        return self._keys.get(named(prepared), named(prepared))

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """As the GPU timed them in turns."""
        return from_plain(Comparison, self._answer("compare", named(challenger), named(incumbent)))

    def _evaluation(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        if purpose == "estimate" and (purpose, named(prepared)) not in self._rows:
            verdict = rejected("time", (Finding("compile_error", "nobody timed it"),), "B.2")
            return Evaluation(self.key(prepared), prepared.id, prepared.tunables, verdict)
        return from_plain(Evaluation, self._answer(purpose, named(prepared)))

    def _answer(self, *question: str) -> object:
        assert question in self._rows, f"the GPU was not asked {question}"
        self.left -= question not in self._asked and question[0] != "estimate"
        self._asked.add(question)
        return self._rows[question]
