"""A race of a run's best kernel with what needs PyTorch or a library of its own: asked of a process of its own.

That process executes the user's own code (`race.py`), so that it has what a child of this program gets: no secret.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.kept_secrets import without_secrets
from records.errors import MachineError, UsageError
from records.evaluation import CaseComparison
from records.incumbent import Beating
from records.outside_text import decoded
from records.ranking import contrast_of
from records.redaction import redacted

if TYPE_CHECKING:
    from app.beating.incumbent_names import Incumbent
    from app.settings import Settings
    from graph.context import Context
    from records.experiment import Attempt

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.beating.race import main; main()"
TIMEOUT_S = 1200.0  # torch.compile takes a minute a shape where it tries every option
DELTA = 0.005  # differences surely below this are "same"
NO_TORCH = "PyTorch for this GPU is not installed where this program runs; install a build for it into .venv"


def raced(settings: Settings, context: Context, best: Attempt, incumbent: Incumbent) -> Beating:
    """Race on every benchmark case; UsageError or MachineError says why that cannot be."""
    if find_spec("torch") is None:
        raise UsageError(NO_TORCH)
    request = {
        "task": str(context.assignment.task.folder),
        "target": context.run.target,
        "cache": str(settings.cache_folder / "kernels"),
        "source": context.artefacts.text(best.source),
        "tunables": dict(best.tunables),
        "incumbent": [incumbent.name, incumbent.kind, incumbent.text],
    }
    context.stop.check()
    try:
        completed = subprocess.run(
            [sys.executable, "-P", "-c", PROGRAM, str(ROOT)],
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            env=without_secrets(),
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MachineError(f"the race with {incumbent.name} took longer than {TIMEOUT_S / 60:.0f} minutes") from None
    lines = completed.stdout.splitlines()
    if completed.returncode or not lines:
        raise MachineError(f"the process of the race with {incumbent.name} ended with {completed.returncode}")
    return beating_of(decoded(lines[-1]), context, best, incumbent, settings.secrets())


def beating_of(
    answer: dict[str, Any], context: Context, best: Attempt, incumbent: Incumbent, secrets: tuple[str, ...] = ()
) -> Beating:
    """Combine the cases of an answer: ratios are the best kernel's time over the incumbent's."""
    if "fault" in answer:
        return Beating(incumbent.name, best.id, why=redacted(str(answer["fault"]), secrets, str(Path.home())))
    weights = {case.name: case.weight for case in context.assignment.task.benchmarks}
    cases = [CaseComparison(**case) for case in answer["cases"]]
    verdict, ratio, low, high = contrast_of(weights, cases, DELTA)
    ours_us, theirs_us = (float(answer[name]) for name in ("ours_us", "theirs_us"))
    return Beating(incumbent.name, best.id, 1 / ratio, 1 / high, 1 / low, ours_us, theirs_us, "measured", verdict)
