"""A station's actor: answers, losses, and a process that hangs, with a handle that ends as its script says."""

from __future__ import annotations

import asyncio
import sys
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")


class ScriptedHandle:
    """Methods as Ray's handle has them; `answer` never ends where the process hangs, and neither does a beat then."""

    def __init__(self, answer: Any, hangs: bool = False) -> None:
        self.beats = 0
        self._answer, self._hangs = answer, hangs
        self.answer = SimpleNamespace(remote=self._answered)
        self.introduce = SimpleNamespace(remote=self._introduced)
        self.beat = SimpleNamespace(remote=self._beaten)

    async def _answered(self, body: bytes) -> Any:
        await asyncio.sleep(3600 if self._hangs else 0.05)
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer

    async def _introduced(self) -> Any:
        if isinstance(self._answer, BaseException):
            raise self._answer
        return {"kind": "", "slot": "GPU 0"}

    async def _beaten(self) -> None:
        self.beats += 1
        await asyncio.sleep(3600 if self._hangs else 0)


def asked(handle: ScriptedHandle, is_alive: bool = True, **seconds: float) -> Any:
    from cluster.station_actor import StationActor

    async def alive() -> bool:
        return is_alive

    return asyncio.run(StationActor(handle, "node", alive, **seconds).answer(b"x"))


def test_an_answer_is_waited_for_as_long_as_the_process_lives() -> None:
    handle = ScriptedHandle((b"made", "", ""))
    assert asked(handle, beat_s=0.01).body == b"made"
    assert handle.beats >= 1


def test_a_process_that_hangs_is_a_lost_station() -> None:
    from cluster.dispatcher import StationLost

    with pytest.raises(StationLost) as lost:
        asked(ScriptedHandle((b"", "", ""), hangs=True), beat_s=0.01, hung_s=0.02)
    assert not lost.value.with_node


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_dead_actor_is_a_loss_with_or_without_its_node(is_alive: bool) -> None:
    from ray.exceptions import RayActorError

    from cluster.dispatcher import StationLost

    with pytest.raises(StationLost) as lost:
        asked(ScriptedHandle(RayActorError()), is_alive)
    assert lost.value.with_node is not is_alive


def test_a_fault_of_the_program_is_one_sentence() -> None:
    from ray.exceptions import RayTaskError

    try:
        raise KeyError("no such\nrow")
    except KeyError as cause:
        fault = RayTaskError("answer", "".join(map(str, sys.exc_info()[:1])), cause)
    found = asked(ScriptedHandle(fault))
    assert found.kind == "LabError" and "KeyError" in found.text and "\n" not in found.text


def introduced(handle: ScriptedHandle, **seconds: float) -> Any:
    from cluster.station_actor import StationActor

    async def alive() -> bool:
        return True

    return asyncio.run(StationActor(handle, "0123456789", alive, **seconds).introduce())


def test_a_station_whose_process_never_starts_is_a_fault_of_its_node() -> None:
    assert introduced(ScriptedHandle(None)) == {"kind": "", "slot": "GPU 0"}
    found = introduced(ScriptedHandle(None, hangs=True), begin_s=0.02)
    assert found["kind"] == "SpoolError" and "the node 01234567 has started no process for a station" in found["text"]


def test_a_station_that_ends_while_it_starts_is_one_sentence() -> None:
    from ray.exceptions import RayActorError

    assert "could not be started" in introduced(ScriptedHandle(RayActorError()))["text"]
