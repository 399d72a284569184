"""Times for people and as JSON: measured ones with their intervals, predicted ones beside their bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.screen import format_us, say, table
from records.evaluation import Evaluation, Measurement
from records.quantity import known, plain
from records.ranking import mean_of

FIELDS = ("time_us", "time_kind", "ci_low", "ci_high", "warm_us", "bound", "roofline_fraction", "resources_us")
PREDICTED = ("bound_us", "time_error", "stalls_us")
MOST_STALLS, MIN_STALL = 4, 0.03  # shares of the expected time


def time_json(m: Measurement | None) -> Mapping[str, Any]:
    """Write the time of one case for `check --json`; null where it was not timed, or not known."""
    if m is None:
        return dict.fromkeys((*FIELDS, *PREDICTED))
    return {
        "time_us": m.time_us,
        "time_kind": m.kind,
        "ci_low": m.ci_low_us,
        "ci_high": m.ci_high_us,
        "warm_us": known(m.warm_us),
        "bound": m.bound,
        "roofline_fraction": m.roofline_fraction,
        "resources_us": dict(m.resources_us),
        "bound_us": known(m.bound_us),
        "time_error": m.error or None,
        "stalls_us": dict(m.stalls_us),
    }


def predicted_text(time_us: float | None, warm_us: float, bound_us: float) -> str:
    """Write `expected 38.8 us (cold; warm 30.1 us), bound 12.4 us`; what is not known is left out."""
    warm = f" (cold; warm {format_us(warm_us)})" if warm_us else " (cold)"
    return f"expected {format_us(time_us)}{warm}" + (f", bound {format_us(bound_us)}" if bound_us else "")


def mean_text(evaluation: Evaluation) -> str:
    """Write the geometric mean over the benchmarks with its kind, in words."""
    if evaluation.time_kind == "predicted" and (bound_us := mean_of(evaluation, "bound_us")):
        error = f"; two are equal within {100 * evaluation.time_error:.2g} %" if evaluation.time_error else ""
        return f"{predicted_text(evaluation.geomean_us, mean_of(evaluation, 'warm_us'), bound_us)} (predicted{error})"
    return f"{format_us(evaluation.geomean_us)} ({evaluation.time_kind})"


def stalls_of(evaluation: Evaluation) -> dict[str, float]:
    """Find the largest parts of the expected time by cause, as shares over the benchmarks, the largest first."""
    total = sum(m.weight * m.time_us for m in evaluation.measurements if m.stalls_us)
    parts: dict[str, float] = {}
    for m in evaluation.measurements:
        for cause, us in m.stalls_us.items():
            parts[cause] = parts.get(cause, 0.0) + m.weight * us / total
    ranked = sorted(parts.items(), key=lambda part: (-part[1], part[0]))[:MOST_STALLS]
    return {cause: share for cause, share in ranked if share >= MIN_STALL}


def stalls_text(evaluation: Evaluation) -> str:
    """Write the same in words: `vmcnt 41 %, barrier 9 %`; empty where nothing is known of it."""
    return ", ".join(f"{cause} {100 * share:.0f} %" for cause, share in stalls_of(evaluation).items())


def print_times(evaluation: Evaluation) -> None:
    """Print the times of an evaluation, each with its kind; nothing where it was not timed."""
    if not evaluation.measurements:
        return
    if evaluation.time_kind == "measured":
        say("\nTimes: measured")
        _print_measured(evaluation)
    else:
        say("\nTimes: predicted, not measured: counted work on a model of the GPU")
        _print_predicted(evaluation)
    say(f"  geometric mean: {mean_text(evaluation)}")
    if stalls := stalls_text(evaluation):
        say(f"  where the predicted time goes: {stalls}")
    _print_per_resource(evaluation)


def _print_predicted(evaluation: Evaluation) -> None:
    """Print the expected time beside the bound of this code and the speed of light; all of them are predicted.

    Older programs knew a bound alone, as the predicted time.
    """
    table(
        [
            "  case",
            "expected" if any(m.bound_us for m in evaluation.measurements) else "predicted time",
            "warm",
            "bound",
            "speed of light",
            "share",
            "binds",
        ],
        [
            [
                f"  {m.case}",
                format_us(m.time_us),
                format_us(known(m.warm_us)),
                format_us(known(m.bound_us)),
                format_us(m.roofline_us),
                f"{m.roofline_fraction:.0%}",
                m.bound or "-",
            ]
            for m in evaluation.measurements
        ],
        right=range(1, 6),
    )


def _print_measured(evaluation: Evaluation) -> None:
    """Cold times with their intervals, and the same calls with the data still in the caches."""
    table(
        ["  case", "measured time", "95 % interval", "warm", "speed of light", "share"],
        [
            [
                f"  {m.case}",
                format_us(m.time_us),
                f"{format_us(m.ci_low_us)} to {format_us(m.ci_high_us)}",
                format_us(m.warm_us) if m.warm_us else "-",
                format_us(m.roofline_us),
                f"{m.roofline_fraction:.0%}",
            ]
            for m in evaluation.measurements
        ],
        right=range(1, 6),
    )
    say(f"  on {evaluation.measurements[0].device}; {evaluation.measurements[0].clocks or 'its clocks cannot be read'}")


def _print_per_resource(evaluation: Evaluation) -> None:
    """Print the time that each resource alone would need; a star marks the one that binds."""
    names = list(dict.fromkeys(n for m in evaluation.measurements for n in m.resources_us))
    if not names:
        return
    say("\nWhat each resource alone would need, us (* binds)")
    table(
        ["  case", *names],
        [
            [
                f"  {m.case}",
                *(
                    f"{plain(m.resources_us[n], 3)}{'*' if n == m.bound else ''}" if n in m.resources_us else "-"
                    for n in names
                ),
            ]
            for m in evaluation.measurements
        ],
        right=range(1, 1 + len(names)),
    )
