"""Fair shares between runs, however many jobs each has waiting."""

from __future__ import annotations

from cluster.fair_queue import FairQueue


def same(job: str) -> int:
    return 0


def served(queue: FairQueue[str], count: int, seconds: float = 1.0) -> list[str]:
    """The runs in the order in which one station serves them."""
    found = []
    for _ in range(count):
        job = queue.pop(same)
        assert job is not None
        run = job.partition(":")[0]
        found.append(run)
        queue.end(run, seconds)
    return found


def test_a_run_with_many_jobs_does_not_starve_one_with_few() -> None:
    queue = FairQueue[str]()
    for number in range(100):
        queue.push("big", f"big:{number}")
    for number in range(3):
        queue.push("small", f"small:{number}")
    assert served(queue, 6).count("small") == 3


def test_shares_are_of_seconds_and_not_of_jobs() -> None:
    queue = FairQueue[str]()
    for number in range(60):
        queue.push("slow", f"slow:{number}")
        queue.push("fast", f"fast:{number}")
    spent = {"slow": 0.0, "fast": 0.0}
    for _ in range(44):
        job = queue.pop(same)
        assert job is not None
        run = job.partition(":")[0]
        seconds = 10.0 if run == "slow" else 1.0
        spent[run] += seconds
        queue.end(run, seconds)
    assert abs(spent["slow"] - spent["fast"]) <= 10.0


def test_a_late_run_begins_level_with_the_others() -> None:
    queue = FairQueue[str]()
    for number in range(100):
        queue.push("early", f"early:{number}")
    assert set(served(queue, 50)) == {"early"}
    for number in range(100):
        queue.push("late", f"late:{number}")
    assert served(queue, 20).count("late") in (10, 11)  # neither all of them nor none


def test_stations_at_work_count_before_they_are_done() -> None:
    queue = FairQueue[str]()
    for number in range(8):
        queue.push("a", f"a:{number}")
    for number in range(8):
        queue.push("b", f"b:{number}")
    begun = [queue.pop(same) or "" for _ in range(8)]
    assert sorted(job[0] for job in begun) == ["a"] * 4 + ["b"] * 4


def test_the_least_rank_and_then_the_oldest_is_next() -> None:
    queue = FairQueue[str]()
    for number in range(4):
        queue.push("a", f"a:{number}")
    queue.push("a", "a:first", is_first=True)
    assert queue.pop(lambda job: int(job != "a:2")) == "a:2"
    assert [queue.pop(same), queue.pop(same), queue.pop(same)] == ["a:first", "a:0", "a:1"]


def test_dropped_jobs_are_gone() -> None:
    queue = FairQueue[str]()
    for number in range(4):
        queue.push("a", f"a:{number}")
    assert queue.drop(lambda job: job != "a:3") == ["a:0", "a:1", "a:2"]
    assert (queue.pop(same), queue.pop(same), len(queue)) == ("a:3", None, 0)


def test_a_job_that_may_not_go_yet_stays_and_holds_up_nobody() -> None:
    queue = FairQueue[str]()
    queue.push("a", "a:waits")
    queue.push("a", "a:goes")
    queue.push("b", "b:goes")

    def rank(job: str) -> int | None:
        return None if job.endswith("waits") else 0

    assert [queue.pop(rank) for _ in range(3)] == ["a:goes", "b:goes", None]
    assert len(queue) == 1 and queue.pop(same) == "a:waits"
