"""What a GPU answered in a campaign, answered again without one: by kernel and tunables, nothing else.

A gzip file of JSON lines as `benchmarks.on_h200_author` writes them: the device, then one answer a line. A replay
begins with the seeds as they were tuned, so that it asks for what was answered whatever the tuner does today.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.on_h200_author import named
from records.codec import from_plain
from records.evaluation import Comparison, Evaluation
from sandbox.by_purpose import ByPurpose
from sandbox.candidate.prepare import Prepared, Preparer
from sandbox.walk import Purpose
from tasks.task import Task

DATA = Path(__file__).parents[1] / "data"


class RecordedDevice(ByPurpose):
    """The sandbox of a replay; a question that the recording lacks is an error of the test."""

    def __init__(self, file: str) -> None:
        first, *rows = gzip.decompress((DATA / file).read_bytes()).decode().splitlines()
        self.device: str = json.loads(first)["device"]
        self._rows = {(row["purpose"], *row["kernels"]): row["answer"] for row in map(json.loads, rows)}
        self._keys = {names[0]: answer["key"] for (_, *names), answer in self._rows.items() if len(names) == 1}
        self._asked: set[tuple[str, ...]] = set()
        self._seeds: set[str] = set()  # ids, as shipped and as tuned
        self._preparer = Preparer()

    def tuned(self, task: Task, folder: Path) -> Task:
        """The task with its seeds as the campaign tuned them, in this folder."""
        paths = []
        for seed in task.seeds:
            source, path = seed.read_text(encoding="utf-8"), folder / seed.name
            prepared = self.prepare(source, task)
            choices = (prepared.tuned(choice) for choice in prepared.choices)
            tuned = next(
                (candidate for candidate in choices if ("benchmark", named(candidate)) in self._rows), prepared
            )
            path.write_text(tuned.source, encoding="utf-8")
            paths.append(path)
            self._seeds |= {prepared.id, tuned.id}
        return replace(task, seeds=tuple(paths))

    @property
    def left(self) -> list[tuple[str, ...]]:
        """Answers that nobody asked for yet, but for those that tell a seed's choices apart."""
        left = [question for question in self._rows if question not in self._asked]
        return [(purpose, *names) for purpose, *names in left if not self._seeds & {json.loads(n)[0] for n in names}]

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
        if purpose == "verify" and (purpose, named(prepared)) not in self._rows:
            purpose = "benchmark"  # of a tuned seed, which was verified on the way to its times
        return from_plain(Evaluation, self._answer(purpose, named(prepared)))

    def _answer(self, *question: str) -> object:
        assert question in self._rows, f"the GPU was not asked {question}"
        self._asked.add(question)
        return self._rows[question]
