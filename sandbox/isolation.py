"""The choice of a level: each is tried with a program that attempts to get out; the strongest that holds is taken."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from pathlib import Path

from records.errors import HostStarved, MachineError
from sandbox.cage.confinement import Cage, candidates
from sandbox.cage.meter import ProcessLimits
from sandbox.cage.view import View
from sandbox.process import run

_TRIES, _PAUSE_S = 3, 1.0  # a moment without free process numbers must not cost a level
_LIMITS = ProcessLimits(cpu_s=5, idle_s=5.0, patience_s=120.0)


def choose_cage(launcher: Path) -> Cage:
    """Choose the strongest level that holds here; MachineError where not even limits can be set."""
    reasons = []
    for cage in candidates(launcher):
        why = failure(cage, launcher)
        if not why:
            return cage
        reasons.append(f"{cage.level}: {why}")
    raise MachineError(f"no program can be confined on this machine ({'; '.join(reasons)})")


def failure(cage: Cage, launcher: Path) -> str:
    """Say why this level does not hold here; "" where it does. A starved machine is asked again."""
    tries = _TRIES
    while True:
        tries -= 1
        try:
            return _failure(cage, launcher)
        except MachineError as error:
            if not isinstance(error, HostStarved) or not tries:
                return str(error)
            time.sleep(_PAUSE_S)


def _failure(cage: Cage, launcher: Path) -> str:
    """Try as `failure` does, once; MachineError where the probe cannot be started.

    The probe, which is part of the launcher, must run and must neither read nor write a file outside, nor make a socket
    or a process. Of `limits` only the last two are asked.
    """
    with tempfile.TemporaryDirectory() as outside, tempfile.TemporaryDirectory() as inside:
        secret = Path(outside) / secrets.token_hex(8)
        secret.write_text("secret", encoding="utf-8")
        view = View(executable=(launcher,), writable=(Path(inside),))
        probe = [str(launcher), "probe", str(secret), str(os.getpid())]
        completed = run(probe, cwd=Path(inside), env={}, limits=_LIMITS, cage=cage, view=view)
        got_out = set(completed.stdout.split()) - ({"read", "write"} if cage.level == "limits" else set())
        if got_out:
            return f"the probe could {', '.join(sorted(got_out))}"
        return "" if completed.returncode == 0 else f"the probe ended with {completed.returncode}"
