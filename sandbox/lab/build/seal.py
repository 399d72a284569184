"""The seal of a module: every top-level line and every function, or the first reason why it cannot be executed."""

from __future__ import annotations

from records.evaluation import Finding
from sandbox.candidate.diagnostics import refusal
from sandbox.lab.build.first_looks import with_first_looks
from sandbox.lab.build.ir_types import UnknownText
from sandbox.lab.build.sealed_calls import SealedFunction
from sandbox.lab.build.sealed_ir import Refusal, SealedModule


def seal(text: str, secret: str) -> str | Finding:
    """The sealed text of what the optimiser has left, or why it is not allowed."""
    try:
        module = SealedModule(text, secret)
        made: list[str] = []
        for head, body in module.heads():
            made.append(head)
            if head.startswith("define "):
                name = head[head.index("@") + 1 : head.index("(", head.index("@"))].strip('"')
                made += [*SealedFunction(module, name, with_first_looks(body)).sealed(), "}"]
        return "\n".join([*made, module.trailer()])
    except Refusal as found:
        return refusal(found.message, found.line, found.code)
    except UnknownText as found:
        return refusal(f"the lab cannot execute this construct: {str(found)[:60]}", None, "B.1")
