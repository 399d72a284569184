"""The dispatcher without Ray: stations that are lost, fail, hang or differ, and what becomes of the requests."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

from cluster.dispatcher import ABSENT_S, MOST_FAULTS, MOST_TRIES, Dispatcher, StationLost, StationPost, StationReply

PLACE, OTHER = "h200 with driver 1", "h200 with driver 2"


class ScriptedStation:
    """A station that answers with its name and the request, or ends as its script says."""

    def __init__(self, name: str, script: tuple[str, ...] = (), place: str = PLACE, node: str = "") -> None:
        self.post = StationPost(name, node or f"node of {name}", place, self.answer)
        self.script, self.asked = list(script), list[str]()
        self.gate = asyncio.Event()
        self.gate.set()

    async def answer(self, body: bytes) -> StationReply:
        self.asked.append(body.decode())
        await self.gate.wait()
        await asyncio.sleep(0)
        word = self.script.pop(0) if self.script else "answer"
        if word in ("lost", "node"):
            raise StationLost(word == "node")
        if word != "answer":
            return StationReply(kind=word, text=f"{self.post.id} is at fault")
        return StationReply(f"{self.post.id}:{body.decode()}".encode())


def ask(made: Dispatcher, name: str, run: str = "r", place: str = PLACE, sticky: str = "", asker: str = "a"):  # type: ignore[no-untyped-def]
    return asyncio.ensure_future(made.ask(asker, run, place, sticky or name, name, name.encode()))


def test_each_request_is_answered_once_and_remembered() -> None:
    async def tried() -> None:
        made, one = Dispatcher(), ScriptedStation("one")
        one.gate.clear()
        made.join(one.post)
        twice = [ask(made, "x", run) for run in ("r", "s", "t")]
        await asyncio.sleep(0)
        one.gate.set()
        assert {(await each).body for each in twice} == {b"one:x"}
        assert (await ask(made, "x", "u")).body == b"one:x"
        assert one.asked == ["x"]

    asyncio.run(tried())


def test_a_lost_station_costs_the_request_nothing() -> None:
    async def tried() -> None:
        made = Dispatcher()
        for station in (ScriptedStation("one", ("lost",)), ScriptedStation("two")):
            made.join(station.post)
        replies = [await ask(made, f"x{i}") for i in range(4)]
        assert {reply.kind for reply in replies} == {""}
        assert {reply.body.partition(b":")[0] for reply in replies} == {b"two"}
        assert made.lost == 1 and list(made.posts) == ["two"]

    asyncio.run(tried())


def test_a_lost_node_is_no_try_but_lost_stations_are_counted() -> None:
    async def tried(word: str) -> StationReply:
        made = Dispatcher()
        asked = ask(made, "x")
        for number in range(2 * MOST_TRIES):
            made.join(ScriptedStation(f"s{number}", (word,)).post)
            for _ in range(5):
                await asyncio.sleep(0)
        made.join(ScriptedStation("whole").post)
        return await asked

    assert asyncio.run(tried("node")).body == b"whole:x"
    assert asyncio.run(tried("lost")).kind == "SpoolError"


def test_a_fault_is_tried_elsewhere_then_given_to_the_asker() -> None:
    async def tried() -> None:
        given_up = list[str]()
        made = Dispatcher(lambda station, kind, why: given_up.append(f"{station}: {kind}: {why}"))
        bad = ScriptedStation("bad", ("DeviceError",) * 9)
        made.join(bad.post)
        made.join(ScriptedStation("good").post)
        assert (await ask(made, "x")).body == b"good:x"
        made.leave("good")
        assert (await ask(made, "y")).kind == "DeviceError"
        assert given_up == ["bad: DeviceError: bad is at fault"] and len(bad.asked) >= MOST_FAULTS
        assert not made.posts

    asyncio.run(tried())


def test_a_request_waits_for_another_node_when_all_stations_of_one_fail() -> None:
    """A full disk: three free stations would fail on each request before the one on the good node is free."""

    async def tried() -> None:
        given_up = list[str]()
        made, good = Dispatcher(lambda station, kind, why: given_up.append(station)), ScriptedStation("good")
        good.gate.clear()
        made.join(good.post)
        first = ask(made, "begun")
        await asyncio.sleep(0)
        full = [ScriptedStation(f"full {n}", ("SpoolError",) * 99, node="full") for n in range(3)]
        for station in full:
            made.join(station.post)
        asked = [ask(made, f"x{n}") for n in range(12)]
        for _ in range(50):
            await asyncio.sleep(0)
        assert not any(each.done() for each in asked)
        good.gate.set()
        assert {(await each).body.partition(b":")[0] for each in (first, *asked)} == {b"good"}
        assert sorted(given_up) == [each.post.id for each in full if len(each.asked) == MOST_FAULTS]
        assert max(len(station.asked) for station in full) == MOST_FAULTS

    asyncio.run(tried())


def test_a_request_that_every_node_fails_on_goes_back_with_the_fault() -> None:
    async def tried() -> None:
        made = Dispatcher()
        for number in range(5):
            made.join(ScriptedStation(f"s{number}", ("LabError",) * 9, node=f"n{number % 2}").post)
        assert (await ask(made, "x")).kind == "LabError"
        assert made.is_idle()

    asyncio.run(tried())


def test_a_busy_host_does_not_cost_the_station_its_place() -> None:
    async def tried() -> None:
        made, one = Dispatcher(), ScriptedStation("one", ("HostStarved",) * (2 * MOST_TRIES))
        made.join(one.post)
        for _ in range(2):
            assert (await ask(made, "x")).kind == "HostStarved"
        assert (await ask(made, "x")).body == b"one:x"  # which was not remembered

    asyncio.run(tried())


def test_a_run_stays_with_its_kind_of_place() -> None:
    async def tried() -> None:
        made = Dispatcher()
        made.join(ScriptedStation("other", place=OTHER).post)
        asked = ask(made, "x")
        await asyncio.sleep(0.01)
        assert not asked.done()
        made.expire(0.0)
        made.join(ScriptedStation("own").post)
        assert (await asked).body == b"own:x"

    asyncio.run(tried())


def test_a_place_without_stations_gives_its_requests_back_in_the_end() -> None:
    async def tried() -> None:
        made = Dispatcher()
        asked = ask(made, "x")
        await asyncio.sleep(0)
        made.expire(0.0)
        made.expire(ABSENT_S)
        assert not asked.done()
        made.expire(ABSENT_S + 1)
        assert (await asked).kind == "SpoolError" and made.is_idle()

    asyncio.run(tried())


def test_a_candidate_goes_back_to_the_station_that_knows_it() -> None:
    async def tried() -> None:
        made = Dispatcher()
        for number in range(4):
            made.join(ScriptedStation(f"s{number}").post)
        for candidate in range(4):
            replies = [await ask(made, f"{candidate}-{n}", sticky=str(candidate)) for n in range(5)]
            assert len({reply.body.partition(b":")[0] for reply in replies}) == 1

    asyncio.run(tried())


def test_what_only_one_asker_waits_for_is_dropped_with_it() -> None:
    async def tried() -> None:
        made, one = Dispatcher(), ScriptedStation("one")
        one.gate.clear()
        made.join(one.post)
        ask(made, "begun", asker="gone")
        alone, shared = ask(made, "alone", asker="gone"), ask(made, "shared", asker="gone")
        ask(made, "shared", asker="stays")
        await asyncio.sleep(0)
        made.forget("gone")
        one.gate.set()
        assert (await alone).kind == "SpoolError"
        assert (await shared).body == b"one:shared"
        assert one.asked == ["begun", "shared"]
        assert (await ask(made, "begun")).body == b"one:begun" and len(one.asked) == 2

    asyncio.run(tried())


def test_storms_of_losses_lose_and_double_nothing() -> None:
    async def tried(seed: int) -> None:
        draw, made, stations = random.Random(seed), Dispatcher(), list[ScriptedStation]()

        def another() -> None:
            words = tuple(draw.choice(("node", "answer", "answer")) for _ in range(20))
            stations.append(ScriptedStation(f"s{len(stations)}", words))
            made.join(stations[-1].post)

        another()
        asked = [ask(made, f"x{i}", draw.choice("rst"), sticky=str(i // 3)) for i in range(60)]
        while not all(each.done() for each in asked):
            if len(made.posts) < 4:
                another()
            await asyncio.sleep(0)
        replies = [each.result() for each in asked]
        assert [reply.body.partition(b":")[2] for reply in replies] == [f"x{i}".encode() for i in range(60)]
        tries = Counter(name for station in stations for name in station.asked)
        assert sum(tries.values()) == 60 + made.lost

    for seed in range(20):
        asyncio.run(tried(seed))


def test_the_snapshot_counts_what_waits_and_runs() -> None:
    async def tried() -> None:
        made, one = Dispatcher(), ScriptedStation("one")
        one.gate.clear()
        made.join(one.post)
        for number in range(3):
            ask(made, f"x{number}")
        await asyncio.sleep(0)
        found = made.snapshot(0.0)
        assert (found["waiting"], found["running"], found["runs"]["r"]["waiting"]) == (2, 1, 2)
        made.forget("a")
        one.gate.set()
        await asyncio.sleep(0.01)
        assert made.is_idle()

    asyncio.run(tried())


def test_a_station_takes_as_many_at_once_as_it_can() -> None:
    async def tried() -> None:
        made, one, two = Dispatcher(), ScriptedStation("one"), ScriptedStation("two")
        for station in (one, two):
            station.post.capacity = 3
            station.gate.clear()
            made.join(station.post)
        asked = [ask(made, f"x{number}") for number in range(8)]
        await asyncio.sleep(0.01)
        assert (len(one.asked), len(two.asked), made.snapshot(0.0)["waiting"]) == (3, 3, 2)
        one.gate.set()
        two.gate.set()
        assert len({(await each).body for each in asked}) == 8

    asyncio.run(tried())
