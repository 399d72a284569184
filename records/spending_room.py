"""The room that the limits of a run leave for one more call to its model."""

from __future__ import annotations

import math
from dataclasses import replace

from records.allowance import WORDS, Allowance, option_of
from records.engine import Statements
from records.errors import BudgetExhausted
from records.experiment import ModelCall

ROUNDING_USD = 1e-9
SETTLED = "SELECT calls, prompt_tokens, completion_tokens, usd FROM spends WHERE run_id = ?"
HELD = (  # in flight only, a few rows whatever was paid before
    "SELECT key, prompt_tokens + completion_tokens, reserved_usd FROM calls "
    "WHERE state = 'reserved' AND run_id = ? AND key <> ?"
)


class SpendingRoom:
    """The place that the limits of a run leave for one more call, within a transaction."""

    def __init__(self, db: Statements, call: ModelCall, most: Allowance) -> None:
        """Count what the run holds and has spent, but for `call` itself."""
        settled = db.execute(SETTLED, (call.run_id,)).fetchone()
        calls, prompt, completion, usd = (0, 0, 0, 0.0) if settled is None else settled
        rows = db.execute(HELD, (call.run_id, call.key)).fetchall()
        self.held = tuple(row[0] for row in rows)  # keys of the calls in flight
        self._limits = {
            "budget_usd": (most.budget_usd, usd, math.fsum(row[2] for row in rows)),
            "max_tokens": (most.max_tokens, prompt + completion, sum(row[1] for row in rows)),
            "max_calls": (most.max_calls, calls, len(rows)),
        }

    def fitted(self, call: ModelCall, least: ModelCall) -> ModelCall | None:
        """Return the call where it fits; where it never will, the largest from `least` to it that fits; else None."""
        now, later = self._share(call, least, is_later=False), self._share(call, least, is_later=True)
        if now >= 1.0:
            return replace(call, state="reserved", reply=None)
        if now < 0.0 or later >= 1.0:
            return None
        low, high = least.usage.completion_tokens, call.usage.completion_tokens
        answer = low + int(now * (high - low))
        usd = least.reserved_usd + (answer - low) / max(1, high - low) * (call.reserved_usd - least.reserved_usd)
        usage = replace(call.usage, completion_tokens=answer)
        return replace(call, state="reserved", reply=None, reserved_usd=usd, usage=usage)

    def _share(self, call: ModelCall, least: ModelCall, is_later: bool) -> float:
        """Return how much of the way from `least` to `call` fits, at most 1; below 0 where not even `least` does.

        `is_later`: once the calls in flight have given back all they hold.
        """
        share = 1.0
        for name, (most, used, reserved) in self._limits.items():
            if most is None:
                continue
            left = most - used - (0 if is_later else reserved) + ROUNDING_USD
            small, large = _need(least, name), _need(call, name)
            if left < large:
                share = min(share, -1.0 if left < small else (left - small) / (large - small))
        return share

    def refuse(self, least: ModelCall, can_wait: bool) -> None:
        """Raise BudgetExhausted where too little is left; of who can wait, even when those in flight gave all back."""
        for name, (most, used, reserved) in self._limits.items():
            need, committed = _need(least, name), used if can_wait else used + reserved
            if most is not None and committed + need > most + ROUNDING_USD:
                amount = ("${:,.4f}" if name == "budget_usd" else "{:,.0f} " + WORDS[name]).format
                left = amount(max(0, most - committed))
                raise BudgetExhausted(
                    f"the next {least.role} call needs {amount(need)}, and of {amount(most)} {left} are left; "
                    f"give the run more with resume and {option_of(name)}",
                    name,
                )


def _need(call: ModelCall, name: str) -> float:
    needs = {"budget_usd": call.reserved_usd, "max_tokens": call.usage.prompt_tokens + call.usage.completion_tokens}
    return needs.get(name, 1)
