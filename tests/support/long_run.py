"""A ledger with one run of any length, made up from a seed: to look at its page, to test it and to time it.

python -m tests.support.long_run FOLDER [CANDIDATES]
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from records.artefacts import ArtefactStore
from records.evaluation import CaseResult, Evaluation, Finding, HotLine, Measurement, Resources, Verdict
from records.experiment import Attempt, Credit, Experiment, ModelCall, Run, Usage
from records.ledger import Ledger
from tests.support.long_run_words import CASES, FAULTS, IDEAS, LITERATURE, STOP

SOURCE = Path(__file__).resolve().parents[2] / "tasks" / "row_softmax" / "seed_tunable.hip"


@dataclass
class LongRun:
    """Writes the run, candidate by candidate."""

    folder: Path
    texts: Callable[[str, str], str] = lambda field, text: text  # what stands in a free-text field
    run_id: str = "20261122-090000-row_softmax-2k00"
    seed: int = 7
    ledger: Ledger = field(init=False)
    artefacts: ArtefactStore = field(init=False)

    def __post_init__(self) -> None:
        """Open the ledger."""
        self.ledger = Ledger(self.folder / "ledger.db")
        self.artefacts = ArtefactStore(self.folder / "artefacts", self.ledger)
        self._random = random.Random(self.seed)
        self._base = SOURCE.read_text(encoding="utf-8")
        self._best = 180.0
        self._pool: list[tuple[str, float, str]] = []
        self._clock = datetime(2026, 11, 22, 9, tzinfo=UTC)
        self._times: list[tuple[str, str]] = []

    def start(self, candidates: int) -> None:
        """Write the run down with its two seeds."""
        config = {"generations": math.ceil(candidates / 8), "picks": 8, "budget_usd": 200.0}
        self.run = Run(
            self.run_id,
            self.texts("task", "row_softmax"),
            "mi300x",
            "lab",
            self.texts("author", "llm"),
            self.seed,
            config,
        )
        self.run = Run(**{**self.run.__dict__, "created_at": self._clock.isoformat()})
        self.ledger.add_run(self.run)
        self._event("generation", "0", generation=0, of=config["generations"])
        for slot, time_us in enumerate((1109.1, 180.0)):
            self.candidate(0, slot, time_us)

    def write(self, candidates: int) -> None:
        """The whole run, in one commit."""
        with self.ledger.together():
            self.start(candidates)
            for n in range(candidates - 2):
                self.grow(n)
            self._event("stopped", "done", generation=math.ceil(candidates / 8), reason=self.texts("reason", STOP))
            self.ledger.finish(self.run.id, "done", self.texts("stop_reason", STOP))
            self._date()

    def grow(self, n: int) -> None:
        """One more candidate, of whatever fate."""
        generation, slot = n // 8 + 1, n % 8 + 1
        if slot == 1:
            self._event("generation", str(generation), generation=generation, of=0)
            self._call(generation, "", "planner", 0.031)
        fate, best = self._random.random(), min(t for _, t, _ in self._pool)
        time_us = None
        if fate < 0.62:
            gain = self._random.gauss(-0.06, 0.07)
            time_us = max(39.0 * (1 + self._random.random() * 0.01), best / (1 + min(gain, 0.09)))
        self.candidate(generation, slot, time_us)

    def candidate(self, generation: int, slot: int, time_us: float | None, is_hoped: bool = True) -> Attempt:
        """One experiment and its attempt; one that nobody hoped anything of has no predicted gain."""
        t, draw, name = self.texts, self._random, f"g{generation:03d}-e{slot}"
        parent = self._parent() if generation else None
        title, words, feature = draw.choice(IDEAS)
        if not generation:
            title, words = f"seed {('seed.hip', 'seed_tunable.hip')[slot]}", "The task's own kernel."
        low = draw.randrange(0, 8) if generation else 0
        self.ledger.add_experiment(
            Experiment(
                name,
                self.run.id,
                generation,
                slot,
                parent[0] if parent else None,
                self._pool[0][0] if self._pool else None,
                t("title", title),
                t("description", words),
                (t("rubric", "state the expected traffic"), "keep the tail guarded"),
                low if is_hoped else 0,
                low + draw.randrange(2, 20) if generation and is_hoped else 0,
                draw.randrange(100),
                draw.choice(("most_innovative", "highest_potential", "most_certain")) if generation else "seed",
            )
        )
        if generation:
            self._call(generation, name, "coder", 0.042)
        source = self._source(parent[2] if parent else self._base, title, generation, slot)
        evaluation = self._evaluation(f"{self.run_id}-{name}", time_us, source)
        self.ledger.add_evaluation(self.run.id, evaluation)
        attempt = self._attempt(name, generation, parent, evaluation, source, feature)
        self.ledger.add_attempt(attempt)
        facts = {word: getattr(attempt, word) for word in ("status", "geomean_us", "time_kind", "reason")}
        self._event("attempt", attempt.id, generation=generation, experiment=name, attempt=attempt.id, **facts)
        if generation % 5 == 1 and slot == 1:
            words = {
                key: t("literature", sentence) for key, sentence in LITERATURE[generation % len(LITERATURE)].items()
            }
            self._event("literature", f"{generation}", **words)
        if attempt.geomean_us:
            if attempt.geomean_us < self._best * 0.999:
                self._best = attempt.geomean_us
                self._event("best", name, generation=generation, attempt=attempt.id, best_us=self._best)
            self._pool.append((attempt.id, attempt.geomean_us, source))
        return attempt

    def _parent(self) -> tuple[str, float, str]:
        ranked = sorted(self._pool, key=lambda p: p[1])
        return self._random.choice(ranked[:6] if self._random.random() < 0.7 else self._pool[-20:])

    def _attempt(
        self,
        name: str,
        generation: int,
        parent: tuple[str, float, str] | None,
        evaluation: Evaluation,
        source: str,
        feature: str,
    ) -> Attempt:
        t, verdict, time_us = self.texts, evaluation.verdict, evaluation.geomean_us
        idea = (parent[1] / time_us - 1) * 100 if parent and time_us else None
        lesson = f"{feature}: {idea:+.1f} % over {parent[0]}" if idea is not None and parent and abs(idea) > 3 else ""
        status = "accepted" if verdict.accepted else "rejected"
        if not verdict.accepted and self._random.random() < 0.2:
            status = "duplicate"
        return Attempt(
            f"{name}-a0",
            self.run.id,
            name,
            generation,
            0,
            evaluation.candidate_id,
            self.artefacts.put(source),
            status,
            evaluation.key,
            parent[0] if parent else None,
            (t("report", "loads are 16 bytes wide"), "the tail is guarded"),
            (t("skipped", "prefetch: no registers left"),),
            t("critique", "The reduction still waits for LDS twice."),
            {t("tunable", "BLOCK"): 64 << self._random.randrange(4), "VEC": 4},
            time_us if status == "accepted" else None,
            "predicted" if time_us and status == "accepted" else None,
            verdict.code,
            verdict.stage,
            "" if status == "accepted" else t("reason", verdict.findings[0].message),
            strategy=t("strategy", f"B{64 << self._random.randrange(3)}-L1-M0-{feature}-W1-U1-T12-O8-R0"),
            lesson=t("lesson", lesson) if lesson else "",
            standing=self._random.choice(("shown", "believed", "refuted", "")) if lesson else "",
            credit=Credit(self._random.random() * 8, idea, idea, None),
        )

    def _evaluation(self, key: str, time_us: float | None, source: str) -> Evaluation:
        t, draw = self.texts, self._random
        lines = [n for n, text in enumerate(source.split("\n"), 1) if text.strip().endswith(";")]
        if time_us is None:
            kind, code, stage, template = draw.choice(FAULTS)
            message = t("finding", template.format(n=draw.randrange(70_000), m=draw.randrange(9_000)))
            finding = Finding(
                kind, message, draw.choice(lines), t("kernel", "row_softmax"), t("case", CASES[0][0]), "x"
            )
            return Evaluation(key, key, {}, Verdict(stage, False, code, (finding,)), isolation="namespaces")
        share = time_us / math.prod(light for _, light in CASES) ** (1 / len(CASES))
        return Evaluation(
            key,
            key,
            {},
            Verdict("time", True, "OK"),
            (Resources(t("kernel", "row_softmax"), 64, 0, 32, 8192, 0, 8, {t("class", "vmem"): 24, "valu": 210}),),
            tuple(CaseResult(t("case", f"rows={n},cols=1000"), "test", True, 0.5 + n / 90) for n in range(12)),
            tuple(
                Measurement(
                    case,
                    light * share,
                    "predicted",
                    "lab:mi300x",
                    light * share,
                    light * share,
                    bound=t("bound", "hbm" if share < 1.5 else "latency"),
                    resources_us={
                        "hbm": light * (1 + draw.random() * 0.4),
                        "valu": light * 0.3,
                        "latency": light * 0.5,
                    },
                    roofline_us=light,
                )
                for case, light in CASES
            ),
            {t("counter", "TCC_READ"): float(draw.randrange(10**7)), "SQ_WAVES": 28439.0},
            t("explanation", "row_softmax is bound by the memory bandwidth (HBM): 50.6 of 54.6 us."),
            f"code-{key}",
            2.5,
            {t("kernel", "row_softmax"): {t("counter", "TCC_READ"): 1e6, "SQ_WAVES": 28439.0}},
            tuple(
                HotLine(line, "row_softmax", {"l1_clocks": 5e6 * (n + 1)}, {"l1_clocks": 0.3 / (n + 1)})
                for n, line in enumerate(draw.sample(lines, 5))
            ),
            "namespaces",
        )

    def _source(self, base: str, title: str, generation: int, slot: int) -> str:
        if not generation:
            return self.texts("source", base)
        lines = base.split("\n")
        lines[self._random.randrange(len(lines) // 2, len(lines) - 2)] += f"  // {title}, {generation}.{slot}"
        return self.texts("source", "\n".join(lines))

    def _call(self, generation: int, experiment: str, role: str, usd: float) -> None:
        t, key = self.texts, f"{self.run_id}-{generation}-{experiment}-{role}"
        words = t(
            "prompt", f"You are the {role} of generation {generation}. Make the kernel faster.\n" + "context " * 200
        )
        talk = json.dumps([{"role": "system", "content": "GPU kernels"}, {"role": "user", "content": words}])
        model = t("model", "gpt-5.1")
        call = ModelCall(key, self.run.id, t("role", role), model, self.artefacts.put(talk), "reserved", usd)
        self.ledger.reserve(ModelCall(**{**call.__dict__, "generation": generation, "experiment_id": experiment}))
        reply = json.dumps({"text": t("reply", f"1. {IDEAS[generation % 6][0]}: expect 5 to 12 %.")})
        self.ledger.settle(key, self.artefacts.put(reply), Usage(4200, 900, usd))
        self._times.append((key, self._tick(9).isoformat(timespec="milliseconds")))

    def _event(self, kind: str, key: str, **payload: object) -> None:
        self.ledger.event(self.run.id, kind, payload, f"{kind}:{key}")
        self._times.append((f"{kind}:{key}", self._tick(6).isoformat(timespec="milliseconds")))

    def _tick(self, seconds: float) -> datetime:
        self._clock += timedelta(seconds=seconds * self._random.random() * 2)
        return self._clock

    def _date(self) -> None:
        """Spread the run over hours: the ledger itself knows only the present."""
        with self.ledger._writing() as db:
            dated = [(time, key) for key, time in self._times]
            db.executemany("UPDATE events SET at = ? WHERE key = ?", dated)
            db.executemany("UPDATE calls SET at = ? WHERE key = ?", dated)


def main() -> None:
    """Write a run into a folder."""
    long_run = LongRun(Path(sys.argv[1]))
    long_run.write(int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
    long_run.ledger.close()


if __name__ == "__main__":
    main()
