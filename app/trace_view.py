"""Traces as a person reads them: what digests stand for is written out, secrets and, if asked, long texts are not.

A node's state holds references. Here the verdict, times and registers behind an evaluation's key, the kernel behind a
draft and the titles of the passages are put beside them, under `told`, before anything is sent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.pricing import price_of
from records.errors import LedgerError
from records.outside_text import visible
from records.redaction import redacted

if TYPE_CHECKING:
    from app.settings import Settings
    from records.artefacts import ArtefactStore
    from records.evaluation import Evaluation
    from records.ledger import Ledger

SHORT_CHARS, SHORT_LINES = 400, 2  # of a text that `digest` and `off` send as it is: an idea or a finding, no kernel
FINDINGS = 5
_BREAK = re.compile(r"\n|\\n")  # also within JSON that a model wrote


class TraceView:
    """Rewrites inputs, outputs and metadata of traced steps; the ledgers it reads are those of the runs at work."""

    def __init__(self, settings: Settings, home: str, scrub: Callable[[Any], Any] = lambda value: value) -> None:
        """`scrub` removes what looks like a secret, after the keys that are known to be some."""
        self._settings, self._home, self._scrub = settings, home, scrub
        self._stores: list[tuple[Ledger, ArtefactStore]] = []

    def attach(self, ledger: Ledger, artefacts: ArtefactStore) -> None:
        """Look up references here, too."""
        if not any(attached is ledger for attached, _ in self._stores):
            self._stores.append((ledger, artefacts))

    def __call__(self, value: Any) -> Any:
        """Make the value as it is sent."""
        if isinstance(value, Mapping):
            summary = self._look_up(value)
            value = {**({"told": summary} if summary else {}), **value, **self._cost(value)}
        return self._scrub(self._clean(value))

    def _look_up(self, state: Mapping[str, Any]) -> dict[str, Any]:
        summary: dict[str, Any] = {}
        for ledger, artefacts in self._stores:
            try:
                if state.get("key") and state.get("purpose"):
                    evaluation = ledger.evaluation(str(state["key"]), state["purpose"])
                    summary |= evaluation_summary(evaluation) if evaluation is not None else {}
                for name in ("source", "draft", "given"):
                    if is_digest(state.get(name)) and "kernel" not in summary:
                        summary["kernel"] = artefacts.text(state[name])
                if is_digest(state.get("literature")):
                    lines = artefacts.text(state["literature"]).splitlines()
                    summary["passages"] = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
                summary |= self._speed(ledger, state)
            except LedgerError:  # closed, or of another folder
                continue
        return summary

    @staticmethod
    def _speed(ledger: Ledger, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the leader's time and speed-up, where the state has both."""
        best_us, seed_us = state.get("best_us"), state.get("seed_us")
        if not isinstance(best_us, float) or not isinstance(seed_us, float) or not best_us:
            return {}
        return {"best_us": round(best_us, 3), "speedup_over_seed": round(seed_us / best_us, 4)}

    def _cost(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """Tokens and dollars of an answer, in the fields where LangSmith looks for them."""
        answer = outputs.get("llm_output")
        used = answer.get("token_usage") if isinstance(answer, Mapping) else None
        if not isinstance(used, dict) or not isinstance(used.get("prompt_tokens"), int):
            return {}
        completion_tokens = used.get("completion_tokens")
        prompt_tokens, answered = used["prompt_tokens"], completion_tokens if isinstance(completion_tokens, int) else 0
        price = price_of(self._settings, str(answer.get("model_name", "")) if isinstance(answer, Mapping) else "")
        paid = price.cost_usd(prompt_tokens, 0), price.cost_usd(0, answered)
        counted = {"input_tokens": prompt_tokens, "output_tokens": answered, "total_tokens": prompt_tokens + answered}
        costs = {"input_cost": paid[0], "output_cost": paid[1], "total_cost": sum(paid)}
        return {"usage_metadata": {**counted, **costs}}

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(visible(redacted(value, self._settings.secrets(), self._home)))
        if isinstance(value, Mapping):
            return {self._clean(str(name)): self._clean(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(inner) for inner in value]
        return value

    def _text(self, text: str) -> str:
        mode = self._settings.trace_sources
        if mode == "full" or (len(text) <= SHORT_CHARS and len(_BREAK.findall(text)) < SHORT_LINES):
            return text
        digest = f", sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}" if mode == "digest" else ""
        return f"[text of {len(text)} characters{digest}]"


def view_of(settings: Settings) -> TraceView:
    """Make the view with the settings' keys and with rules for what looks like a key."""
    from langsmith.anonymizer import StringNodeRule, create_secret_anonymizer

    rules = [StringNodeRule(pattern=re.compile(re.escape(s)), replace="[removed]") for s in settings.secrets()]
    return TraceView(settings, str(Path.home()), create_secret_anonymizer(extra_rules=rules))


def evaluation_summary(evaluation: Evaluation) -> dict[str, Any]:
    """Verdict, findings, times and registers in plain summary."""
    findings = [f"line {f.line}: {f.kind}: {f.message}" for f in evaluation.verdict.findings[:FINDINGS]]
    summary: dict[str, Any] = {
        "verdict": "accepted"
        if evaluation.verdict.accepted
        else f"rejected at {evaluation.verdict.stage}: {evaluation.verdict.code}",
        "findings": findings,
        "tunables": dict(evaluation.tunables),
    }
    if evaluation.geomean_us is not None:
        summary |= {"geomean_us": round(evaluation.geomean_us, 3), "time_kind": evaluation.time_kind}
        summary["times_us"] = {m.case: round(m.time_us, 3) for m in evaluation.measurements}
    summary["registers"] = {
        r.kernel: {"vgpr": r.vgpr, "lds_bytes": r.lds_bytes, "scratch_bytes": r.scratch_bytes}
        for r in evaluation.resources
    }
    return summary


def is_digest(value: Any) -> bool:
    """Tell whether a text is the name of an artefact."""
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None
