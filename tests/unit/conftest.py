from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from records.artefacts import ArtefactStore
from records.evaluation import CaseResult, Evaluation, Finding, Measurement, Resources, TimeKind, Verdict, geomean_us
from records.experiment import Attempt, Experiment, ModelCall, Run, Usage
from records.ledger import Ledger

CASES = ("rows=8,cols=64", "rows=16,cols=32")


@dataclass
class Notebook:
    """A ledger to write a run into, attempt by attempt."""

    ledger: Ledger
    artefacts: ArtefactStore
    run: Run
    texts: Callable[[str], str] = field(default=lambda name: name)  # what stands in each free-text field

    def start(self, **changes: Any) -> Notebook:
        t = self.texts
        fields: dict[str, Any] = {
            "task": t("task"),
            "target": "mi300x",
            "on": "lab",
            "author": t("author"),
            "seed": 7,
            "config": {"generations": 2, "note": t("config")},
        }
        self.run = Run(self.run.id, **{**fields, **changes})
        self.ledger.add_run(self.run)
        return self

    def attempt(
        self,
        generation: int,
        slot: int,
        time_us: float | None,
        parent: str | None = None,
        kind: TimeKind = "predicted",
        source: str = "line one\nline two\n",
        number: int = 0,
        is_bare: bool = False,
        picked_as: str = "",
    ) -> Attempt:
        t, name = self.texts, f"g{generation:03d}-e{slot}"
        self.ledger.add_experiment(self._experiment(name, generation, slot, parent, picked_as))
        evaluation = self._evaluation(f"key-{name}-{number}", time_us, kind, is_bare)
        self.ledger.add_evaluation(self.run.id, evaluation)
        verdict, accepted = evaluation.verdict, evaluation.verdict.accepted
        attempt = Attempt(
            f"{name}-a{number}",
            self.run.id,
            name,
            generation,
            number,
            t("candidate"),
            self.artefacts.put(source),
            "accepted" if accepted else "rejected",
            evaluation.key,
            parent,
            (t("report"),),
            (t("skipped"),),
            t("critique"),
            {t("tunable"): 4},
            geomean_us(evaluation.measurements),
            kind if accepted else None,
            verdict.code,
            verdict.stage,
            "" if accepted else t("reason"),
            strategy=t("strategy"),
            lesson=t("lesson"),
        )
        self.ledger.add_attempt(attempt)
        return attempt

    def _experiment(self, name: str, generation: int, slot: int, parent: str | None, picked_as: str) -> Experiment:
        t = self.texts
        words = t("title"), t("description"), (t("rubric"),)
        return Experiment(name, self.run.id, generation, slot, parent, None, *words, 5, 40, 60, picked_as)

    def _evaluation(self, key: str, time_us: float | None, kind: TimeKind, is_bare: bool) -> Evaluation:
        t, accepted = self.texts, time_us is not None
        findings = () if accepted else (Finding("out_of_bounds", t("finding"), 2, t("kernel"), t("case"), t("buffer")),)
        resources = Resources(t("kernel"), 32, 0, 16, 0, 0, 8, {t("instruction"): 3})
        if is_bare:  # as a judge on an NVIDIA GPU tells it
            resources = Resources(t("kernel"), 32, 0, 0, 0, 0, 0)
        return Evaluation(
            key,
            t("candidate"),
            {t("tunable"): 4},
            Verdict("time" if accepted else "execute", accepted, "OK" if accepted else "B.3", findings),
            (resources,),
            (CaseResult(t("verified"), "test", True, 0.5, message=t("message")),),
            () if time_us is None else tuple(self._measured(time_us, kind, is_bare)),
            {} if is_bare else {t("counter"): 12.0},
            t("explanation"),
        )

    def _measured(self, time_us: float, kind: TimeKind, is_bare: bool) -> Iterator[Measurement]:
        bound = "" if is_bare else self.texts("bound")
        for case, share in zip(CASES, (0.5, 2.0), strict=True):
            device = self.texts("device")
            yield Measurement(
                case, time_us * share, kind, device, time_us * share, time_us * share, bound=bound, roofline_us=1.0
            )

    def call(self, key: str, usd: float) -> None:
        role, model = self.texts("role"), self.texts("model")
        self.ledger.reserve(ModelCall(key, self.run.id, role, model, "p", "reserved", usd))
        self.ledger.settle(key, "r", Usage(1000, 200, usd))


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(
        Ledger(tmp_path / "ledger.db"),
        ArtefactStore(tmp_path / "artefacts"),
        Run("run-1", "task", "mi300x", "lab", "playbook", 7),
    )
