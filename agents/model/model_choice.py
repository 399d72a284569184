"""Several models for one role: which of them an experiment is given, by what each gained for its money so far.

The rule is UCB1 (Auer, Cesa-Bianchi and Fischer 2002). A reward is the doublings of speed that an experiment gained, 1
at most, over what an experiment of that model costs beside the others'. It rests on earlier generations only, so that a
resumed run asks the same models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents.author import Step
from records.experiment import Attempt, ModelCall
from records.ledger import Ledger

WIDTH = 0.25  # of the confidence term: most experiments gain far less than a doubling
UNWRITTEN = ("explore", "dispatch")  # experiments that no model writes


@dataclass(frozen=True)
class ModelRecord:
    """One model's experiments so far."""

    experiments: int = 0
    reward: float = 0.0
    price: float = 0.0  # money of its calls, or tokens where none of the models has a price

    def index(self, total: int, usual: float) -> float:
        """Compute the optimistic reward for what an experiment usually costs.

        It is infinite for a model that was never asked.
        """
        if not self.experiments:
            return math.inf
        share = self.price / self.experiments / usual if usual else 1.0
        bonus = WIDTH * math.sqrt(2 * math.log(max(2, total)) / self.experiments)
        return self.reward / self.experiments / max(share, 0.1) + bonus


def model_of(ledger: Ledger, role: str, step: Step, models: Sequence[str]) -> str:
    """Pick the model that an experiment's questions of this role go to; the first where there is no experiment."""
    if len(models) == 1 or not step.experiment_id:
        return models[0]
    planned = [e.id for e in ledger.experiments(step.run_id, step.generation) if e.picked_as not in UNWRITTEN]
    position = planned.index(step.experiment_id) if step.experiment_id in planned else 0
    return draws(models, records_of(ledger, role, step, models), position + 1)[position]


def draws(models: Sequence[str], earlier: Mapping[str, ModelRecord], count: int) -> list[str]:
    """Draw the models of so many experiments that begin at once; of equal ones the first that is named."""
    records, drawn = {model: earlier.get(model, ModelRecord()) for model in models}, list[str]()
    while len(drawn) < count:
        total = sum(r.experiments for r in records.values())
        usual = sum(r.price for r in records.values()) / total if total else 0.0
        model = max(models, key=lambda name: records[name].index(total, usual))
        drawn.append(model)
        record = records[model]
        experiments = max(1, record.experiments)  # as it went so far, until it is known
        records[model] = replace(
            record,
            experiments=record.experiments + 1,
            reward=record.reward + record.reward / experiments,
            price=record.price + (record.price / experiments or usual),
        )
    return drawn


def records_of(ledger: Ledger, role: str, step: Step, models: Sequence[str]) -> dict[str, ModelRecord]:
    """Gains and costs of the models in earlier generations."""
    calls = [c for c in ledger.calls(step.run_id) if _counts(c, role, step.generation) and c.model in models]
    is_priced = any(c.usage.usd for c in calls)
    gains = _gains(ledger.attempts(step.run_id))
    records = dict[str, ModelRecord]()
    for experiment in dict.fromkeys(c.experiment_id for c in calls):
        mine = [c for c in calls if c.experiment_id == experiment]
        tokens = float(sum(c.usage.prompt_tokens + c.usage.completion_tokens for c in mine))
        record = records.get(mine[0].model, ModelRecord())
        reward = min(1.0, math.log2(1 + max(0.0, gains.get(experiment, 0.0)) / 100))
        price = sum(c.usage.usd for c in mine) if is_priced else tokens
        records[mine[0].model] = ModelRecord(record.experiments + 1, record.reward + reward, record.price + price)
    return records


def _counts(call: ModelCall, role: str, generation: int) -> bool:
    is_earlier = call.generation is not None and 0 < call.generation < generation
    return call.role == role and is_earlier and call.state == "done" and bool(call.experiment_id)


def _gains(attempts: Sequence[Attempt]) -> dict[str, float]:
    """Compute the gain that each experiment's change is shown to give, in per cent."""
    gains = dict[str, float]()
    for attempt in attempts:
        gain_pct = attempt.credit.shown_pct if attempt.credit.shown_pct is not None else attempt.credit.idea_pct
        if attempt.status == "accepted" and attempt.standing != "refuted" and gain_pct is not None:
            gains[attempt.experiment_id] = gain_pct
    return gains
