"""Words that a candidate's text may not hold: the judge's own names, other line numbers, and what has no end.

A build with probes and one without see the same text. A candidate that asked for a name of the judge's could tell the
two apart; one with line numbers of its own could lead every finding astray.
"""

from __future__ import annotations

from collections.abc import Iterator

from records.evaluation import Finding
from sandbox.candidate.diagnostics import refusal
from sandbox.candidate.header_names import is_ours
from sandbox.candidate.pp_tokens import Token, is_directive, rows, scan

MOST = 20


def source_refusals(source: str) -> tuple[Finding, ...]:
    """List findings of kind compile_error, each with its line; at most MOST."""
    tokens = scan(source)
    findings = [
        refusal(
            f"the name {token.text} belongs to the judge; the same code must run in the lab and on the GPU, so "
            "a candidate may neither ask for such a name nor define it",
            token.line,
        )
        for token in tokens
        if (token.kind == "name" and is_ours(token.text)) or (token.kind == "header" and "ks_" in token.text)
    ]
    return tuple([*findings, *_directives(tokens)][:MOST])


def _directives(tokens: list[Token]) -> Iterator[Finding]:
    for row in rows(tokens):
        if row[-1].kind == "open":
            yield refusal("a comment or a raw string has no end", row[-1].line)
        if is_directive(row) and len(row) > 1 and (row[1].text == "line" or row[1].kind == "number"):
            yield refusal("#line may not be used: findings could not name the line that they mean", row[0].line)
