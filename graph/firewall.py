"""A wall around each experiment and each question: what goes wrong inside by a fault of the program stays inside.

A bad kernel is data and a broken machine is a MachineError; both pass. Any other exception is a fault of the program,
met by one author's answer: the work is tried once more, and when it fails again the answer is put in quarantine, which
is that the experiment is recorded as failed and the run goes on. What was worked on is kept for a report of the fault.
A sandbox that fails twice in one experiment is put to the proof: where it answers on the parent, the machine is sound.
"""

from __future__ import annotations

import errno
import json
import platform
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from graph.context import Context
from graph.evaluating import prepared_again
from graph.events import emit
from records.disk_room import room_sentence
from records.errors import (
    DeviceError,
    DiskFull,
    HostStarved,
    LabError,
    MachineError,
    MalformedReply,
    Pending,
    RunStopped,
)
from records.outside_text import cleaned
from sandbox.walk import question

Value = TypeVar("Value")
TRIES = 2
MOST_CHARS = 300  # of an exception's own words
MOST_FRAMES = 12
MOST_CALLS = 6  # answers named in a report, the latest
_ROOT = Path(__file__).parents[1]
_NO_ROOM = {errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
_PASSES = (Pending, RunStopped, GraphBubbleUp, BrokenPipeError, MalformedReply)  # the pipe is that of whoever watches


@dataclass(frozen=True)
class WalledPlace:
    """The part of a run that the wall stands around."""

    name: str  # unique in the run: an experiment's id, or a node and its generation
    generation: int
    experiment_id: str = ""
    parent_id: str = ""  # the kernel on which a sandbox is put to the proof


def walled(
    runtime: Runtime[Context], walled_place: WalledPlace, work: Callable[[], Value], instead: Callable[[str], Value]
) -> Value:
    """Return the result of the work; after two faults of the program what `instead` makes of a sentence about them."""
    message = ""
    for number in range(TRIES):
        try:
            return work()
        except _PASSES:
            raise
        except (LabError, DeviceError) as error:
            if number + 1 < TRIES:
                continue
            if not _is_sound(runtime.context, walled_place):
                raise
            message = _keep(runtime, walled_place, error, number)
        except MachineError:
            raise
        except Exception as error:
            if full := room_sentence(error, ()):
                raise DiskFull(full) from error
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise MachineError(f"this machine has no room for work: {error.strerror}; then resume") from error
            message = _keep(runtime, walled_place, error, number)
    return instead(message)


def optional_answer(runtime: Runtime[Context], walled_place: WalledPlace, question_of: Callable[[], Value]) -> Value:
    """Get the answer to a question that a run can do without.

    It raises MalformedReply where it twice met a fault of the program.
    """

    def refuse(message: str) -> Value:
        raise MalformedReply(message)

    return walled(runtime, walled_place, question_of, refuse)


def _is_sound(context: Context, walled_place: WalledPlace) -> bool:
    """Tell whether the sandbox answers on the parent, asked once more."""
    parent = context.ledger.attempt(context.run.id, walled_place.parent_id) if walled_place.parent_id else None
    if parent is None or context.deferred is not None:
        return False
    try:
        return question(context.sandbox, "verify")(prepared_again(context, parent)).verdict.accepted
    except (MachineError, HostStarved):
        return False


def _keep(runtime: Runtime[Context], walled_place: WalledPlace, error: Exception, number: int) -> str:
    """Store a report of the fault and say it in the diary; the sentence."""
    context = runtime.context
    report = context.artefacts.put(json.dumps(_report(context, walled_place, error), indent=1))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(_ROOT)]
    location = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    message = (
        f"a fault of the program ({type(error).__name__}{location}), not of the idea; "
        f"what it worked on is kept as artefact {report}"
    )
    payload = {"experiment": walled_place.experiment_id} if walled_place.experiment_id else {}
    emit(
        runtime,
        "fault",
        f"{walled_place.name}:{number}",
        generation=walled_place.generation,
        **payload,
        message=message,
    )
    return message


def _report(context: Context, walled_place: WalledPlace, error: Exception) -> Mapping[str, object]:
    """All that a person needs to see the fault again: where it arose, and the artefacts of the last questions."""
    frames = traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
    calls = [
        {"role": c.role, "number": c.number, "prompt": c.prompt, "reply": c.reply}
        for c in context.ledger.calls(context.run.id)
        if c.experiment_id == walled_place.experiment_id and c.generation == walled_place.generation
    ]
    return {
        "place": walled_place.name,
        "run": context.run.id,
        "error": type(error).__name__,
        "message": cleaned(str(error))[:MOST_CHARS],
        "frames": [f"{_relative_name(f.filename)}:{f.lineno} {f.name}" for f in frames],
        "calls": calls[-MOST_CALLS:],
        "python": platform.python_version(),
    }


def _relative_name(file_name: str) -> str:
    path = Path(file_name)
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else path.name
