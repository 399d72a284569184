"""Requests and the stations that answer them, without Ray: what goes where, what is tried again, what is remembered.

A request stays with one kind of place. Equal requests are answered once. A station that is lost in the middle costs the
request nothing but time: it goes first in its run's line and to another station. A loss of the whole node does not even
count as a try; after three others the fault goes to whoever asked, and never to the candidate. A request that met a
fault waits for a station of another node, where there is one: a full disk is a fault of all stations of its node.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from cluster.fair_queue import FairQueue
from records.quantity import counted

MOST_TRIES = 3  # stations that may fail or be lost on one request
MOST_FAULTS = 3  # of a station in a row, after which it gets no more work
REMEMBERED_BYTES = 64 << 20  # of answers
REMEMBERED_WAYS = 4096  # candidates whose last station is known
THROUGHPUT_S = 300.0
ABSENT_S = 120.0  # without any station of a place, after which its requests are given back
PASSING = "HostStarved"  # the kind of fault that does not speak against a station: its machine was busy


@dataclass(frozen=True)
class StationReply:
    """A packed result, or a fault of the machine: the name of its class in records/errors.py and its sentence."""

    body: bytes = b""
    kind: str = ""
    text: str = ""


class StationLost(Exception):
    """A station ended while it worked; `with_node` where its whole node did."""

    def __init__(self, with_node: bool) -> None:
        super().__init__()
        self.with_node = with_node


@dataclass(eq=False)
class StationPost:
    """A station as the dispatcher sees it."""

    id: str
    node: str
    place_id: str  # which answers may be mixed
    answer: Callable[[bytes], Awaitable[StationReply]]
    capacity: int = 1  # requests at once: a GPU compiles and compares for others while it works on one candidate
    working: int = 0
    run: str = ""  # it works for
    faults: int = 0  # in a row
    answered_count: int = 0
    busy_s: float = 0.0


@dataclass(eq=False)
class PostedRequest:
    """A request under way."""

    name: str
    run: str
    place_id: str
    sticky: str  # requests of one candidate share it: they go to one station where they can
    body: bytes
    answered: asyncio.Future[StationReply]
    askers: set[str] = field(default_factory=set)
    tries: int = 0
    avoided: set[str] = field(default_factory=set)  # stations that were lost or failed on it
    avoided_nodes: set[str] = field(default_factory=set)  # of stations that failed on it

    def badness(self, post: StationPost) -> tuple[bool, bool]:
        """Rank the stations for this request: the least first."""
        return post.id in self.avoided, post.node in self.avoided_nodes


class Dispatcher:
    """All requests and stations of a cluster. For one event loop."""

    def __init__(self, give_up: Callable[[str, str, str], None] = lambda station, kind, why: None) -> None:
        """`give_up` is told of a station that gets no more work, with the kind and the sentence of its last fault."""
        self._give_up = give_up
        self.posts: dict[str, StationPost] = {}
        self._queues: dict[str, FairQueue[PostedRequest]] = {}
        self._open: dict[tuple[str, str], PostedRequest] = {}
        self._kept: OrderedDict[tuple[str, str], StationReply] = OrderedDict()
        self._kept_bytes = 0
        self._ways: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._absent_since: dict[str, float] = {}
        self._ended: deque[tuple[float, str]] = deque()  # when, for which run
        self._tasks: set[asyncio.Task[None]] = set()
        self.lost = 0  # stations in the middle of a request

    def join(self, post: StationPost) -> None:
        """Give a station work from now on."""
        self.posts[post.id] = post
        self._pump(post.place_id)

    def leave(self, station: str) -> None:
        """Give a station no more work; what it has in hand is answered or lost by its own call."""
        self.posts.pop(station, None)

    async def ask(self, asker: str, run: str, place_id: str, sticky: str, name: str, body: bytes) -> StationReply:
        """Get the answer to a request, from memory, from one that is under way, or from the next free station."""
        reply = self._kept.get((place_id, name))
        if reply is not None:
            self._kept.move_to_end((place_id, name))
            return reply
        posted = self._open.get((place_id, name))
        if posted is None:
            posted = PostedRequest(name, run, place_id, sticky, body, asyncio.get_running_loop().create_future())
            self._open[place_id, name] = posted
            self._queues.setdefault(place_id, FairQueue()).push(run, posted)
        posted.askers.add(asker)
        self._pump(place_id)
        return await asyncio.shield(posted.answered)

    def forget(self, asker: str) -> None:
        """Drop what waits for an asker alone; what is being worked on is finished and remembered."""
        for queue in self._queues.values():
            for posted in self._open.values():
                posted.askers.discard(asker)
            for posted in queue.drop(lambda job: not job.askers):
                self._close(posted, StationReply(kind="SpoolError", text="nobody waits for the answer any more"))

    def expire(self, now: float) -> None:
        """Give back the requests of places that have had no station for long."""
        present = {post.place_id for post in self.posts.values()}
        for place_id, queue in self._queues.items():
            if place_id in present or not len(queue):
                self._absent_since.pop(place_id, None)
            elif now - self._absent_since.setdefault(place_id, now) > ABSENT_S:
                why = "no station of the run's kind of place is left; start a node that has one, then resume the run"
                for posted in queue.drop(lambda job: True):
                    self._close(posted, StationReply(kind="SpoolError", text=why))

    def is_idle(self) -> bool:
        """Tell whether nothing waits and nothing is worked on."""
        return not self._open

    def snapshot(self, now: float) -> dict[str, Any]:
        """Describe the queue and the throughput, in plain data."""
        runs: dict[str, dict[str, float]] = {}
        for queue in self._queues.values():
            for run, (waiting, running, served_s) in queue.counts().items():
                runs[run] = {"waiting": waiting, "running": running, "served_s": round(served_s, 3)}
        while self._ended and now - self._ended[0][0] > THROUGHPUT_S:
            self._ended.popleft()
        span_s = max(1.0, now - self._ended[0][0]) if self._ended else 1.0
        return {
            "waiting": sum(len(queue) for queue in self._queues.values()),
            "running": sum(post.working for post in self.posts.values()),
            "answered": len(self._ended),
            "per_minute": round(60.0 * len(self._ended) / span_s, 2),
            "lost": self.lost,
            "runs": runs,
        }

    def _pump(self, place_id: str) -> None:
        """Give each free station of a place a request, the one that knows the candidate first."""
        queue = self._queues.get(place_id)
        if queue is None:
            return
        free = [post for post in self.posts.values() if post.place_id == place_id and post.working < post.capacity]
        while free and len(queue):
            posted = queue.pop(lambda job: self._rank(job, free))
            if posted is None:
                return
            post = self._chosen(posted, free)
            post.working, post.run = post.working + 1, posted.run
            if post.working >= post.capacity:
                free.remove(post)
            work = asyncio.get_running_loop().create_task(self._work(post, posted, queue))
            self._tasks.add(work)
            work.add_done_callback(self._tasks.discard)

    def _rank(self, posted: PostedRequest, free: list[StationPost]) -> int | None:
        """0 where its own station is free, 1 where it has none, 2 where it would have to leave it.

        None where a better station than those that are free is at work.
        """
        if posted.avoided:
            best = min(posted.badness(post) for post in self.posts.values() if post.place_id == posted.place_id)
            if best < min(map(posted.badness, free)):
                return None
        station_id = self._ways.get((posted.place_id, posted.sticky), "")
        if station_id not in self.posts or station_id in posted.avoided:
            return 1
        return 0 if any(post.id == station_id for post in free) else 2

    def _chosen(self, posted: PostedRequest, free: list[StationPost]) -> StationPost:
        station_id = self._ways.get((posted.place_id, posted.sticky), "")
        return min(
            free, key=lambda post: (posted.badness(post), post.id != station_id, post.working, post.answered_count)
        )

    async def _work(self, post: StationPost, posted: PostedRequest, queue: FairQueue[PostedRequest]) -> None:
        self._ways[posted.place_id, posted.sticky] = post.id
        self._ways.move_to_end((posted.place_id, posted.sticky))
        if len(self._ways) > REMEMBERED_WAYS:
            self._ways.popitem(last=False)
        started, reply = time.monotonic(), None
        try:
            reply = await post.answer(posted.body)
        except StationLost as loss:
            self.lost += 1
            posted.tries += not loss.with_node
            self.leave(post.id)
        seconds = time.monotonic() - started
        queue.end(posted.run, seconds)
        post.working -= 1
        post.run = post.run if post.working else ""
        post.busy_s += seconds
        if reply is None or reply.kind:
            self._retry(post, posted, queue, reply)
        else:
            post.faults = 0
            post.answered_count += 1
            self._ended.append((time.monotonic(), posted.run))
            self._keep(posted, reply)
            self._close(posted, reply)
        self._pump(posted.place_id)

    def _retry(
        self, post: StationPost, posted: PostedRequest, queue: FairQueue[PostedRequest], reply: StationReply | None
    ) -> None:
        """After a loss (no reply) or a fault: another station, unless too many have failed."""
        posted.avoided.add(post.id)
        if reply is not None:
            posted.tries += 1
            posted.avoided_nodes.add(post.node)
            post.faults += reply.kind != PASSING
            if post.faults >= MOST_FAULTS and post.id in self.posts:
                self.leave(post.id)
                self._give_up(post.id, reply.kind, reply.text)
        is_last = reply is not None and not any(
            other_post.place_id == posted.place_id for other_post in self.posts.values()
        )
        if posted.tries >= MOST_TRIES or is_last:
            lost = f"{counted(MOST_TRIES, 'station')} were lost on one request; look at the nodes' logs and memory"
            self._close(posted, reply or StationReply(kind="SpoolError", text=f"{lost}, then resume the run"))
        elif not posted.askers:
            self._close(posted, StationReply(kind="SpoolError", text="nobody waits for the answer any more"))
        else:
            queue.push(posted.run, posted, is_first=True)

    def _keep(self, posted: PostedRequest, reply: StationReply) -> None:
        self._kept[posted.place_id, posted.name] = reply
        self._kept_bytes += len(reply.body)
        while self._kept_bytes > REMEMBERED_BYTES:
            self._kept_bytes -= len(self._kept.popitem(last=False)[1].body)

    def _close(self, posted: PostedRequest, reply: StationReply) -> None:
        self._open.pop((posted.place_id, posted.name), None)
        if not posted.answered.done():
            posted.answered.set_result(reply)
