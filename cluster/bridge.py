"""The process between a driver and Ray: `python -m cluster.bridge FD`.

Ray ends the process that uses it when the head of the cluster is lost. A driver, which has a ledger to close and a
person to answer, must not end so: it talks to this process over a socket and starts another one when it has gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from cluster.frames import packed, receive_soon
from cluster.knock import fault_at, known_address

BEAT_S = 2.0
LOST_S = 15.0  # without an answer of the supervisor to a beat, after which the cluster counts as lost
RETRY_S = 0.25
AUTO = "auto"  # the cluster that this machine is part of


class ClusterRefusal(Exception):
    """The cluster cannot be used; `kind` is a class of records/errors.py."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind, self.text = kind, text


class Bridge:
    """One connection to Ray for one driver."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._me = secrets.token_hex(8)
        self._asked: dict[str, Any] = {}
        self._supervisor: Any = None
        self._reopening = asyncio.Lock()
        self._answers: Mapping[str, Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]] = {
            "connect": self._connect,
            "open": self._open,
            "ask": self._ask,
            "state": self._state,
            "release": self._release,
        }

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Answer the driver's messages until it goes."""
        tasks = set[asyncio.Task[None]]()
        while (message := await receive_soon(reader)) is not None:
            task = asyncio.create_task(self._reply(message))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        if self._supervisor is not None:
            with contextlib.suppress(Exception):  # the driver has gone, and Ray may have, in whatever way
                await asyncio.wait_for(self._supervisor.leave.remote(self._me), 2.0)

    async def _reply(self, message: dict[str, Any]) -> None:
        try:
            reply = await self._answers[message["do"]](message)
        except ClusterRefusal as refusal:
            reply = {"kind": refusal.kind, "text": refusal.text}
        self._writer.write(packed({"id": message["id"], **reply}))
        await self._writer.drain()

    async def _connect(self, message: dict[str, Any]) -> dict[str, Any]:
        """Join the cluster, or start one on this machine, and find its supervisor."""
        self._asked = message
        await asyncio.get_running_loop().run_in_executor(None, _join, message)
        await self._find_supervisor(message["station"])
        introduction = await self._call(self._supervisor.introduce)
        if introduction["digest"] != message["digest"]:
            raise ClusterRefusal(
                "SpoolError",
                "the cluster runs another version of this program than this machine; install one version on all of "
                "them, then free the old stations with `kernel-scientist cluster --release`",
            )
        self._beating = asyncio.create_task(self._beat())
        return {"kind": "", **introduction}

    async def _open(self, message: dict[str, Any]) -> dict[str, Any]:
        """Open the places that answer for a target."""
        self._asked = {**self._asked, "spec": message["spec"], "wait_s": message["wait_s"]}
        opened: dict[str, Any] = await self._call(self._supervisor.open, self._me, message["spec"], message["wait_s"])
        return opened

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        words = [message[name] for name in ("run", "place", "sticky", "name")]
        while True:
            body, kind, text = await self._call(self._supervisor.ask, self._me, *words, message["body"].encode())
            if kind != "Closed":
                return {"body": body.decode(), "kind": kind, "text": text}
            async with self._reopening:
                if not await self._call(self._supervisor.beat, self._me):
                    await self._call(self._supervisor.open, self._me, self._asked["spec"], self._asked["wait_s"])

    async def _state(self, message: dict[str, Any]) -> dict[str, Any]:
        nodes, state = await self._call(self._supervisor.nodes), await self._call(self._supervisor.state)
        return {"kind": "", "nodes": nodes, "supervisor": state}

    async def _release(self, message: dict[str, Any]) -> dict[str, Any]:
        """End a supervisor, of whatever version, with its stations."""
        import ray

        from cluster.supervisor import NAME, NAMESPACE

        self._asked = message
        await asyncio.get_running_loop().run_in_executor(None, _join, message)
        try:
            ray.kill(ray.get_actor(NAME, NAMESPACE))
        except ValueError:
            return {"kind": "", "found": False}
        return {"kind": "", "found": True}

    async def _find_supervisor(self, station: str) -> None:
        import ray

        from cluster.supervisor import NAME, NAMESPACE, Supervisor

        options = {
            "name": NAME,
            "namespace": NAMESPACE,
            "lifetime": "detached",
            "get_if_exists": True,
            "max_restarts": -1,
            "max_concurrency": 100_000,
            "num_cpus": 0,
            "resources": {"node:__internal_head__": 0.001},
        }
        make = ray.remote(Supervisor).options(**options).remote
        self._supervisor = await asyncio.get_running_loop().run_in_executor(None, make, station)

    async def _call(self, method: Any, *words: Any) -> Any:
        """Call the supervisor, again as long as it is being restarted."""
        from ray.exceptions import ActorDiedError, ActorUnavailableError, RayActorError, RayTaskError

        while True:
            try:
                return await method.remote(*words)
            except ActorDiedError as error:
                if "ModuleNotFoundError" in str(error) or "creation task" in str(error):
                    raise ClusterRefusal("SpoolError", _NOT_INSTALLED) from None
                await asyncio.sleep(RETRY_S)  # released, or idle: a new one
                name = method._method_name
                await self._find_supervisor(self._asked["station"])
                method = getattr(self._supervisor, name)
            except (ActorUnavailableError, RayActorError):
                await asyncio.sleep(RETRY_S)
            except RayTaskError as error:
                cause = " ".join(str(error.cause).split())[:300]
                text = f"the cluster's supervisor failed: {cause}; please report this"
                raise ClusterRefusal("SpoolError", text) from None

    async def _beat(self) -> None:
        """End this process when the cluster does not answer any more: the driver then starts another."""
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await asyncio.wait_for(self._call(self._supervisor.beat, self._me), LOST_S)
            except (TimeoutError, ClusterRefusal):
                os._exit(3)


_NOT_INSTALLED = (
    "the program cannot be started on the cluster's head; install the same version with its extra `ray` on every node"
)


def _join(message: dict[str, Any]) -> None:
    """Connect this process to Ray; ClusterRefusal in one sentence."""
    import ray

    from cluster.supervisor import NAMESPACE

    address, local = message["address"], message["local"]
    common: dict[str, Any] = {"namespace": NAMESPACE, "log_to_driver": False, "logging_level": logging.CRITICAL}
    if local is not None:
        try:
            ray.init(
                include_dashboard=False,
                num_cpus=max(1, min(len(os.sched_getaffinity(0)), round(sum(local.values())))),  # start at once
                resources=local,
                object_store_memory=80 << 20,
                address="local",
                **common,
            )
        except (OSError, RuntimeError, ValueError) as error:
            why = " ".join(str(error).split())[:200]
            raise ClusterRefusal(
                "SpoolError", f"Ray cannot be started on this machine ({why}); free memory and disk"
            ) from None
        return
    if message["is_plain"]:
        _knock(address)
    try:
        ray.init(address=address, **common)
    except ConnectionError:
        fault = "this machine is part of no Ray cluster" if address == AUTO else f"no Ray cluster answers at {address}"
        raise ClusterRefusal(
            "SpoolError",
            f"{fault}; start one with `ray start --head`, give its address as --on ray:HOST:PORT, and copy the head's "
            "~/.ray/auth_token here",
        ) from None
    except (RuntimeError, ValueError, OSError) as error:
        raise ClusterRefusal("SpoolError", _meaning(str(error), address)) from None


def _knock(address: str) -> None:
    """ClusterRefusal where no head answers."""
    head = known_address() if address == AUTO else address
    why = fault_at(head) if head else ""
    if why:
        head_name = f"{head}, the one that this machine was part of" if address == AUTO else head
        raise ClusterRefusal(
            "SpoolError",
            f"no Ray cluster answers at {head_name} ({why}); start one with `ray start --head`, or give the address of "
            "one that is there as --on ray:HOST:PORT",
        )


def _meaning(text: str, address: str) -> str:
    """Ray's own words in one sentence."""
    if "ersion mismatch" in text:
        pairs = [line.strip() for line in text.splitlines() if line.strip().startswith(("Ray:", "Python:"))]
        versions = f" ({', '.join(pairs)})" if pairs else ""
        return f"the cluster has another version of Ray or Python than this machine{versions}; install the same on all"
    if "oken" in text or "uthenticat" in text:
        return f"the Ray cluster at {address} refuses this machine's token; copy the head's ~/.ray/auth_token here"
    return f"the Ray cluster at {address} cannot be used: {' '.join(text.split())[:200]}"


async def _run(descriptor: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor), limit=1 << 20)
    await Bridge(writer).serve(reader)


def main() -> None:
    """Serve the driver at the other end of the descriptor."""
    asyncio.run(_run(int(sys.argv[1])))


if __name__ == "__main__":
    main()
