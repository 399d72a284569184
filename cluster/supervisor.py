"""The supervisor: one actor of the cluster that keeps a station on every GPU and lab share, and hands the requests out.

Stations are its children: when it dies they die, and the GPUs are free for the next one. Nodes that join are found
within seconds. A supervisor that has had no request for a while ends, so that its GPUs are free for other users of Ray.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import time
from collections import defaultdict
from dataclasses import asdict
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cluster.digest import code_digest
from cluster.dispatcher import Dispatcher, StationLost, StationPost, StationReply
from cluster.resource_unit import ResourceUnit
from cluster.station import AT_A_GPU, StationSpec
from cluster.station_actor import StationActor
from records.codec import dumps
from sandbox.target import load_target, target_names

NAMESPACE = "kernel-scientist"
NAME = "supervisor"
LAB = "lab"  # the custom resource of nodes that compile and run the lab
LAB_VENDOR = "amd"
WATCH_S = 1.0
SILENT_S = 30.0  # of an asker, after which what it waits for is dropped
IDLE_S = 600.0  # without an asker, after which the GPUs are given back
OTHERS_S = 5.0  # for more stations, once there is one
AGAIN_S = 30.0  # before a station is tried again that could not be started
DEVICE = "DeviceError"  # the kind of fault after which a station is not tried again


class Supervisor:
    """See the module. All methods are coroutines of one event loop."""

    def __init__(self, station: str) -> None:
        """`station` names the class of the stations as `module:Class`."""
        module, _, name = station.partition(":")
        self._class = ray.remote(getattr(importlib.import_module(module), name))
        self._dispatcher = Dispatcher(self._give_up)
        self._units: dict[tuple[str, str, int], ResourceUnit] = {}
        self._specs: dict[str, StationSpec] = {}  # by resource
        self._nodes: list[dict[str, Any]] = []
        self._alive: set[str] = set()
        self._askers: dict[str, float] = {}
        self._places: dict[str, dict[str, Any]] = {}
        self._count = 0
        self._used = time.monotonic()
        self._watching: asyncio.Task[None] | None = None

    async def introduce(self) -> dict[str, Any]:
        """Describe the version of the program on the supervisor's node, and the number of its process there."""
        if self._watching is None or self._watching.done():
            self._watching = asyncio.get_running_loop().create_task(self._watch())
        return {"digest": code_digest(), "pid": os.getpid()}

    async def open(self, asker: str, spec: dict[str, Any], wait_s: float) -> dict[str, Any]:
        """Open the places that answer for a target, once one does: GPUs where the cluster has any, else the lab.

        A fault has a `kind`, which is a class of records/errors.py, and a `text`.
        """
        await self.introduce()
        self._askers[asker] = self._used = time.monotonic()
        await self._look()
        target = load_target(str(spec["target"]))
        resource = self._resource(target.name, target.vendor)
        if resource is None:
            return self._none(target.name, target.vendor)
        requested = StationSpec(**{**spec, "kind": "lab" if resource == LAB else "device"})
        if self._specs.setdefault(resource, requested) != requested:
            differing = {k: v for k, v in asdict(self._specs[resource]).items() if v != asdict(requested)[k]}
            words = ", ".join(f"{name}={value}" for name, value in differing.items())
            text = f"the cluster's stations were started with {words}; ask for the same, or free them with "
            return {"kind": "UsageError", "text": f"{text}`kernel-scientist cluster --release` when no run needs them"}
        self._fill_units()
        until, first = time.monotonic() + wait_s, 0.0
        while time.monotonic() < until:
            mine = [b for b in self._units.values() if b.resource == resource]
            if any(b.id for b in mine):
                first = first or time.monotonic()
                until = min(until, first + OTHERS_S)
                if not any(b.state == "starting" for b in mine):
                    break
            if mine and all(b.fault[0] for b in mine):
                kind, text = mine[0].fault
                return {"kind": kind, "text": text}
            await asyncio.sleep(0.05)
        station_counts: dict[str, int] = defaultdict(int)
        for unit in self._units.values():
            if unit.resource == resource and unit.id in self._dispatcher.posts:
                station_counts[self._dispatcher.posts[unit.id].place_id] += 1
        if not station_counts:
            return {"kind": "SpoolError", "text": f"no station of the cluster was ready within {wait_s:.0f} s; look "
                    "at `kernel-scientist cluster`, then try again"}  # fmt: skip
        ranked = sorted(station_counts.items(), key=lambda item: (-item[1], item[0]))
        return {"kind": "", "places": [{"place": self._places[name], "stations": count} for name, count in ranked]}

    async def ask(
        self, asker: str, run: str, place_id: str, sticky: str, name: str, body: bytes
    ) -> tuple[bytes, str, str]:
        """Return a packed result, or the kind and sentence of a fault; `Closed` where nobody has opened it yet."""
        self._askers[asker] = self._used = time.monotonic()
        if not self._specs:
            return b"", "Closed", ""
        reply = await self._dispatcher.ask(asker, run, place_id, sticky, name, body)
        return reply.body, reply.kind, reply.text

    async def beat(self, asker: str) -> bool:
        """Say that the asker is still there; False where this supervisor has not been opened yet."""
        self._askers[asker] = self._used = time.monotonic()
        return bool(self._specs)

    async def leave(self, asker: str) -> None:
        """Say that the asker goes."""
        self._askers.pop(asker, None)
        self._dispatcher.forget(asker)

    async def state(self) -> dict[str, Any]:
        """Nodes, stations, queue and throughput, in plain data."""
        await self._look()
        rows = []
        for b in sorted(self._units.values(), key=lambda unit: (unit.node, unit.resource, unit.number)):
            post = self._dispatcher.posts.get(b.id)
            state = "busy" if post is not None and post.working else b.state
            rows.append(
                {
                    "node": b.node,
                    "resource": b.resource,
                    "slot": b.slot or f"{b.resource} {b.number}",
                    "state": state,
                    "pid": b.pid,
                    "run": post.run if post is not None else "",
                    "answered": post.answered_count if post is not None else 0,
                    "place": self._places[post.place_id]["device"] if post is not None else "",
                    "why": b.fault[1],
                }
            )
        return {
            "pid": os.getpid(),
            "stations": rows,
            "askers": len(self._askers),
            **self._dispatcher.snapshot(time.monotonic()),
        }

    async def nodes(self) -> list[dict[str, Any]]:
        """List the nodes of the cluster with what they declare."""
        await self._look()
        return [
            {
                "id": str(node["NodeID"]),
                "name": str(node["NodeName"]),
                "address": str(node["NodeManagerAddress"]),
                "is_alive": bool(node["Alive"]),
                "resources": {k: v for k, v in node["Resources"].items() if k == "CPU" or k in _declared()},
            }
            for node in self._nodes
        ]

    # Stations

    def _resource(self, target: str, vendor: str) -> str | None:
        resources = {name for node in self._nodes if node["Alive"] for name in node["Resources"]}
        if target in resources:
            return target
        return LAB if LAB in resources and vendor == LAB_VENDOR else None

    def _none(self, target: str, vendor: str) -> dict[str, Any]:
        lab = f' or {{"{LAB}": 1}}' if vendor == LAB_VENDOR else ""
        text = f'no node of the cluster declares {{"{target}": 1}}{lab}; start one with: ray start --resources'
        return {"kind": "DeviceError", "text": f"{text} '{{\"{target}\": 1}}'"}

    async def _look(self) -> None:
        self._nodes = await asyncio.get_running_loop().run_in_executor(None, ray.nodes)
        self._alive = {str(node["NodeID"]) for node in self._nodes if node["Alive"]}

    def _fill_units(self) -> None:
        """Start a station on each unit that has none, on nodes that are alive; none on the others."""
        for key, unit in list(self._units.items()):
            if unit.node not in self._alive:
                self._release(unit)
                del self._units[key]
        now = time.monotonic()
        for node in self._nodes:
            for resource, spec in self._specs.items():
                share = int(node["Resources"].get(resource, 0)) if node["Alive"] else 0
                for number in range(share):
                    key = (str(node["NodeID"]), resource, number)
                    unit = self._units.setdefault(key, ResourceUnit(key[0], resource, number, share, spec))
                    is_again = unit.fault[0] not in ("", "GivenUp") and now - unit.since > AGAIN_S
                    if (unit.task is None and not unit.fault[0]) or is_again:
                        unit.fault, unit.since = ("", ""), now
                        unit.task = asyncio.get_running_loop().create_task(self._start(unit))

    async def _start(self, unit: ResourceUnit) -> None:
        """Start a station and give it work."""
        self._count += 1
        handle = self._class.options(
            num_cpus=0,
            resources={unit.resource: 1},
            max_restarts=0,
            max_concurrency=AT_A_GPU + 1,  # and a beat
            scheduling_strategy=NodeAffinitySchedulingStrategy(unit.node, soft=False),
        ).remote(asdict(unit.spec), unit.number, unit.share)
        actor = unit.station = StationActor(handle, unit.node, lambda: self._is_alive(unit.node))
        introduction = await actor.introduce()
        if introduction.get("digest", code_digest()) != code_digest():
            text = f"the node {introduction['host']} has another version of the program than the rest of the cluster"
            introduction |= {"kind": "SpoolError", "text": f"{text}; install one version on all nodes"}
        if introduction["kind"]:
            self._release(unit)
            if unit.node in self._alive:
                unit.fault, unit.since = (introduction["kind"], introduction["text"]), time.monotonic()
            unit.task = None
            return
        place_id = dumps(introduction["place"])
        self._places[place_id] = introduction["place"]
        unit.pid = int(introduction["pid"])
        unit.id, unit.slot = f"{unit.node[:8]}-{unit.resource}-{unit.number}-{self._count}", introduction["slot"]
        post = StationPost(
            unit.id, unit.node, place_id, lambda body: self._answer(unit, actor, body), introduction["capacity"]
        )
        self._dispatcher.join(post)

    async def _answer(self, unit: ResourceUnit, actor: StationActor, body: bytes) -> StationReply:
        try:
            return await actor.answer(body)
        except StationLost:
            if unit.station is actor:  # which several requests may have lost, and another one may have followed
                self._release(unit)
                unit.task = None
            raise

    async def _is_alive(self, node: str) -> bool:
        await self._look()
        return node in self._alive

    def _release(self, unit: ResourceUnit) -> None:
        self._dispatcher.leave(unit.id)
        unit.id = ""
        if unit.station is not None:
            unit.station.end()
            unit.station = None

    def _give_up(self, station: str, kind: str, why: str) -> None:
        """End a station that fails again and again: one with a faulty device for good, another for a while."""
        for unit in self._units.values():
            if unit.id == station:
                self._release(unit)
                unit.fault, unit.since = ("GivenUp" if kind == DEVICE else kind, why), time.monotonic()

    async def _watch(self) -> None:
        """Follow nodes and askers for ever."""
        while True:
            await asyncio.sleep(WATCH_S)
            with contextlib.suppress(RayError, ConnectionError, TimeoutError):
                await self._look()
                self._fill_units()
            now = time.monotonic()
            self._dispatcher.expire(now)
            for asker, last_seen in list(self._askers.items()):
                if now - last_seen > SILENT_S:
                    await self.leave(asker)
            if not self._askers and now - self._used > IDLE_S:
                ray.kill(ray.get_runtime_context().current_actor)  # which ends its stations too


def _declared() -> frozenset[str]:
    return frozenset({LAB, *target_names()})
