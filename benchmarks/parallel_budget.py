"""Callers in parallel on one budget: what is spent, by our ledger and by the server's own bill, and how much is left.

    python -m benchmarks.parallel_budget

32 callers ask a local endpoint questions whose answers have 200 to 1,500 tokens, each with room for 32,000, at the
prices of GPT-5.1. The budget is a share of what all the work costs, from 0 to 100 %. The server keeps a bill: it cuts
an answer at the tokens it was asked for, and bills it; so may end the last one of a budget. The anchor is the share of
the budget that was spent when a caller who found too little left gave up: $0.13 of $0.90, which had room for some of
five calls.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.author import Step
from agents.model.conversation import Message
from agents.model.endpoint import Endpoint
from agents.model.gateway import Gateway
from agents.model.price import Price
from agents.model.structured_output import Form
from benchmarks.figure import Figure, report
from records.artefacts import ArtefactStore
from records.errors import BudgetExhausted, MalformedReply
from records.experiment import Run
from records.ledger import Ledger
from tests.support.endpoint import Answer, ScriptedEndpoint

CALLERS, QUESTIONS = 32, 8
SHARES = tuple(range(0, 101, 5))  # per cent
PRICE = Price(1.25, 10.0, 0.125)
RUN = Run("run", "t", "mi300x", "lab", "llm", 1)
TEXT = Form(lambda text: text)


@dataclass(frozen=True)
class Outcome:
    """The spending of one budget."""

    budget_usd: float
    ledger_usd: float
    billed_usd: float  # by the server
    requests: int
    cut: int  # answers that were longer than what was left for them


class BillingServer:
    """Answers of a length that their question decides, and a bill."""

    def __init__(self) -> None:
        """Begin with nothing billed."""
        self.billed_usd = 0.0
        self.requests = self.cut = 0
        self._lock = threading.Lock()

    def answer(self, body: dict[str, Any]) -> Answer:
        """Answer a request, cut where the answer is longer than was asked for."""
        question = body["messages"][-1]["content"]
        length, most = random.Random(question).randint(200, 1500), int(body["max_tokens"])
        tokens, prompt = min(length, most), -(-len(question) // 4) + 8
        with self._lock:
            self.billed_usd += PRICE.cost_usd(prompt, tokens)
            self.requests += 1
            self.cut += length > most
        usage = {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}
        return Answer("word " * tokens, "stop" if length <= most else "length", usage)


def spent(budget_usd: float, callers: int = CALLERS, questions: int = QUESTIONS) -> Outcome:
    """Run the work of all callers on one budget."""
    server = BillingServer()
    with contextlib.ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        endpoint = opened.enter_context(ScriptedEndpoint(server.answer))
        ledger = opened.enter_context(Ledger(folder / "ledger.db"))
        ledger.add_run(RUN)
        end = Endpoint(endpoint.url, "m", max_tokens=32_000, price=PRICE, retries=0)
        gate = Gateway(end, ledger, ArtefactStore(folder / "artefacts"), budget_usd)
        threads = [threading.Thread(target=_ask, args=(gate, number, questions)) for number in range(callers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spend = ledger.spend(RUN.id)
        assert spend.reserved_usd == 0.0, "a reservation was left"
        return Outcome(budget_usd, spend.usd, server.billed_usd, server.requests, server.cut)


def _ask(gate: Gateway, number: int, questions: int) -> None:
    for question in range(questions):
        try:
            text = f"question {question} of caller {number}: " + "why is this kernel slow? " * 20
            gate.ask("coder", Step(RUN.id, question, f"e{number}"), [Message("user", text)], TEXT)
        except BudgetExhausted:
            return
        except MalformedReply:
            continue


def main() -> int:
    """Spend each budget and report; exit 1 where one was exceeded or left unused."""
    cost_of_all = spent(1e9).ledger_usd
    outcomes = [spent(share / 100 * cost_of_all) for share in SHARES]
    for share, outcome in zip(SHARES, outcomes, strict=True):
        line = f"budget ${outcome.budget_usd:.4f}  billed ${outcome.billed_usd:.4f}"
        line += f" in {outcome.requests} requests, {outcome.cut} cut"
        print(f"{share:3d} %  {line}", file=sys.stderr)
    over = max(max(o.ledger_usd, o.billed_usd) - o.budget_usd for o in outcomes)
    used = [o.billed_usd / o.budget_usd for o in outcomes if o.budget_usd]
    cut = max(outcome.cut for outcome in outcomes)
    apart = max(abs(o.ledger_usd - o.billed_usd) for o in outcomes)
    return report(
        "Callers in parallel on one budget",
        [
            Figure("parallel_budget.over", 100 * max(0.0, over) / cost_of_all, "%", "all of the work", 100.0, "<= 0"),
            Figure("parallel_budget.used", 100 * min(used), "%", "where callers gave up", 14.0, ">= 90"),
            Figure("parallel_budget.cut", cut, "answers", "callers", CALLERS, "<= 1"),
            Figure("parallel_budget.apart", apart, "USD", "the work's cost", cost_of_all, "<= 1e-6"),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
