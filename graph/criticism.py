"""The reasons to ask the critic of a compiled draft; where there is none, nobody is asked and nothing is paid."""

from __future__ import annotations

from agents.checks import check
from records.evaluation import Evaluation, Resources

_ACCEPTED_BY_COMPILERS = frozenset({"barrier", "ballot", "host_code"})  # kinds of the mechanical checks
SLOWER = 1.02  # times as long as the parent: below that the difference says little


def concerns(made: Evaluation, parent: Evaluation) -> tuple[str, ...]:
    """The points against a draft beside its parent, in words for the critic; empty where there is none.

    Spills, fewer waves, findings of the judge, a time longer than the parent's. A compiler's message is no concern: it
    says itself what to change.
    """
    found = [*_spills(made, parent), *_waves(made, parent)]
    verdict = made.verdict
    if not verdict.accepted and verdict.stage not in ("parse", "compile"):
        found.append(f"the judge refuses it at the stage {verdict.stage}, code {verdict.code}")
    new, old = made.geomean_us, parent.geomean_us
    if new and old and made.time_kind == parent.time_kind and new > SLOWER * old:
        found.append(f"it takes {new:.4g} us, {new / old:.2f} times as long as its parent with {old:.4g} us")
    return tuple(found)


def faults_of(source: str, parent_source: str, arch: str) -> tuple[str, ...]:
    """The faults in a draft and not in its parent that a compiler accepts and the mechanical checks find."""
    before = {(r.kind, r.about) for r in check(parent_source, arch)}
    found = (r for r in check(source, arch) if r.kind in _ACCEPTED_BY_COMPILERS)
    return tuple(r.text for r in found if (r.kind, r.about) not in before)


def _spills(made: Evaluation, parent: Evaluation) -> list[str]:
    allowed = max((r.scratch_bytes for r in parent.resources), default=0)
    return [
        f"{r.kernel} spills: {r.scratch_bytes} bytes of scratch a work-item, its parent {allowed}"
        for r in made.resources
        if r.scratch_bytes > allowed
    ]


def _waves(made: Evaluation, parent: Evaluation) -> list[str]:
    new, old = _fewest(made.resources), _fewest(parent.resources)
    return [f"{new} waves fit a SIMD, {old} of its parent"] if new is not None and old is not None and new < old else []


def _fewest(resources: tuple[Resources, ...]) -> int | None:
    return min((r.waves_per_simd for r in resources), default=None)
