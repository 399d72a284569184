"""A station's actor as the supervisor uses it: an answer, a loss of the actor or of its node, or one that hangs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from cluster.dispatcher import StationLost, StationReply

BEAT_S = 30.0  # between two beats of a station at work
HUNG_S = 90.0  # without an answer to a beat, after which a station counts as lost
BEGIN_S = 120.0  # for its process; 64 of them on one core take longer, and what was late is tried again
RECENT_LOSS_S = 5.0  # Ray says that a node is gone somewhat later than that its actors are
SURELY_S = 1.5  # after which a node that Ray still calls alive is taken to be so
LOOK_S = 0.25

IsAlive = Callable[[], Awaitable[bool]]  # of the node, by what Ray says now


class StationActor:
    """One actor with a station in it, from its start to its end."""

    def __init__(
        self, handle: Any, node: str, is_node_alive: IsAlive, beat_s: float = BEAT_S, hung_s: float = HUNG_S,
        begin_s: float = BEGIN_S,
    ) -> None:  # fmt: skip
        """`handle` is Ray's."""
        self._handle, self._node, self._is_node_alive = handle, node, is_node_alive
        self._beat_s, self._hung_s, self._begin_s = beat_s, hung_s, begin_s
        self.has_begun = False  # its process is there

    async def introduce(self) -> dict[str, Any]:
        """Tell the place that the station is, or the `kind` and `text` of what keeps it from being one."""
        try:
            await asyncio.wait_for(_result(self._handle.beat.remote()), self._begin_s)
            self.has_begun = True
            introduction: dict[str, Any] = await self._handle.introduce.remote()
        except TimeoutError:
            text = f"the node {self._node[:8]} has started no process for a station within {self._begin_s:.0f} s"
            return {"kind": "SpoolError", "text": f"{text}; look at its logs"}
        except RayActorError:
            text = f"a station on the node {self._node[:8]} could not be started; look at its logs"
            return {"kind": "SpoolError", "text": text}
        except RayError as error:
            return {"kind": "SpoolError", "text": _cause(error)}
        return introduction

    async def answer(self, body: bytes) -> StationReply:
        """Return the reply to a packed request; StationLost where the actor, or its node, ends or hangs meanwhile."""
        reply = asyncio.ensure_future(_result(self._handle.answer.remote(body)))
        try:
            while not (await asyncio.wait({reply}, timeout=self._beat_s))[0]:
                if not await self._beats():
                    reply.cancel()
                    raise StationLost(False)
            return StationReply(*reply.result())
        except RayTaskError as error:  # a fault in our own program
            return StationReply(kind="LabError", text=_cause(error))
        except RayError:
            raise StationLost(await self._has_lost_node()) from None

    def end(self) -> None:
        """End the actor's process, which frees its GPU."""
        with contextlib.suppress(RayError, ValueError):
            ray.kill(self._handle)

    async def _beats(self) -> bool:
        """Tell whether the process still answers; one that has ended is found by its answer."""
        try:
            await asyncio.wait_for(_result(self._handle.beat.remote()), self._hung_s)
        except TimeoutError:
            return False
        except RayError:
            return True
        return True

    async def _has_lost_node(self) -> bool:
        began = time.monotonic()
        while time.monotonic() - began < RECENT_LOSS_S:
            with contextlib.suppress(RayError, ConnectionError):
                if not await self._is_node_alive():
                    return True
                if time.monotonic() - began > SURELY_S:
                    return False
            await asyncio.sleep(LOOK_S)
        return False


async def _result(reference: Any) -> Any:
    return await reference


def _cause(error: RayError) -> str:
    """Tell the fault in a station's program, in one line."""
    cause = getattr(error, "cause", None) or error
    return f"a station failed with {type(cause).__name__}: {' '.join(str(cause).split())[:300]}; please report this"
