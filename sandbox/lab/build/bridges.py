"""The functions by which the runtime launches a candidate's kernels; they stand behind its text."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.candidate.diagnostics import SOURCE
from sandbox.candidate.plan import Candidate


def bridges_of(candidate: Candidate, kernels: Mapping[str, str], secret: str) -> str:
    """One exported function a launch; it stands behind the candidate's text and has a line number of the plan."""
    named = [f"#define {word} {name}_{secret}" for word, name in (("KS_NEXT", "ks_next"), ("KS_LEAVE", "ks_leave"))]
    parts = [*(named if secret else ()), '#line 1 "launch"', "#include <ks_lab/launch.h>"]
    for number, launch in enumerate(candidate.plan.launches):
        given = f"{number}, {len(launch.args)}, {launch.structs}ul, {kernels[launch.kernel]}"
        parts += [f'#line {launch.line} "{SOURCE}"', f"KS_LAUNCH({given})"]
    return "\n".join(parts) + "\n"
