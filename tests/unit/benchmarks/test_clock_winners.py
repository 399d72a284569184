"""Choices of two clocks among the same candidates, and the times that are stored for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.clock_candidates import ClockCandidate, candidates, shipped_key
from benchmarks.clock_times import ClockTime, TimedCandidate, clock_digest, store_times, stored_times, timed
from benchmarks.clock_winners import figures, table, winners
from records.errors import LabError
from sandbox.target import load_target
from tasks.loader import load_task

SOURCE = (load_task("scan").folder / "seed.hip").read_text(encoding="utf-8")
HEAD = "task\tkey\tclock\ttime_us\trank_us\tcandidate\n"


def candidate(value: int, seed: str = "seed_wide.hip") -> ClockCandidate:
    return ClockCandidate("scan", seed, "", SOURCE, {"BLOCK": value})


def pair(value: int, bound_us: float | None, expected_us: float | None, seed: str = "seed_wide.hip") -> TimedCandidate:
    times = (ClockTime(lab, time, time) for lab, time in (("a", bound_us), ("b", expected_us)))
    return TimedCandidate(candidate(value, seed), *times)


def test_each_clock_chooses_by_its_own_times() -> None:
    some = [pair(64, 10.0, 14.0), pair(128, 11.0, 12.0), pair(256, 12.0, None)]
    choice = winners(some, some[0].candidate.key)
    assert (choice.before, choice.after) == (some[0], some[1])
    assert choice.gain == choice.seed_loss == pytest.approx(14 / 12)
    assert [f.value for f in figures([choice], 0.05)][::2] == [1, 1]
    assert [f.value for f in figures([choice], 0.2)][::2] == [0, 0]
    assert (
        "`seed_wide BLOCK=64` | 10 | 14 | `seed_wide BLOCK=128` | 11 | 12 | 1.17 | 1.17 |" in list(table([choice]))[2]
    )


def test_a_seed_with_plain_defaults_does_not_lose() -> None:
    some = [pair(64, 10.0, 14.0, "seed_tunable.hip"), pair(128, 9.0, 12.0, "seed_tunable.hip")]
    choice = winners(some, some[0].candidate.key)
    assert figures([choice], 0.05)[2].value == 0 and "(plain)" in list(table([choice]))[2]


def test_a_refused_seed_is_told() -> None:
    some = [pair(64, 10.0, None), pair(128, 9.0, 12.0)]
    with pytest.raises(LabError, match="refuses"):
        winners(some, some[0].candidate.key)


def test_stored_times_are_read_and_a_missing_one_names_the_option(tmp_path: Path) -> None:
    before, after = tmp_path / "before.tsv", tmp_path / "after.tsv"
    key = candidate(64).key
    before.write_text(f"{HEAD}scan\t{key}\taa\t10.5\t11\tseed_wide BLOCK=64\n", encoding="utf-8")
    after.write_text(f"{HEAD}scan\t{key}\tbb\t\t\tseed_wide BLOCK=64\n", encoding="utf-8")
    assert timed([candidate(64)], before, after) == [
        TimedCandidate(candidate(64), ClockTime("aa", 10.5, 11.0), ClockTime("bb", None, None))
    ]
    with pytest.raises(LabError, match="run --before"):
        timed([candidate(128)], before, after)


def test_times_of_the_same_lab_are_kept_and_those_of_no_candidate_go(tmp_path: Path) -> None:
    file, root = tmp_path / "times.tsv", tmp_path / "checkout"
    (root / "sandbox").mkdir(parents=True)
    (root / "sandbox" / "lab.py").write_text("1", encoding="utf-8")
    rows = "".join(f"scan\t{candidate(n).key}\t{clock_digest(root)}\t{n}\t{n}\t\n" for n in (64, 128))
    file.write_text(HEAD + rows, encoding="utf-8")
    store_times(file, [candidate(64)], root, tmp_path / "cache")
    assert stored_times(file) == {candidate(64).key: ClockTime(clock_digest(root), 64.0, 64.0)}


def test_another_text_of_the_lab_has_another_digest(tmp_path: Path) -> None:
    file = tmp_path / "sandbox" / "clock.toml"
    file.parent.mkdir()
    digests = set()
    for text in ("a", "b", "a"):
        file.write_text(text, encoding="utf-8")
        digests.add(clock_digest(tmp_path))
    assert len(digests) == 2


def test_candidates_are_distinct_and_the_tuned_seed_stands_with_its_defaults() -> None:
    task = load_task("scan", "mi300x")
    some = candidates(task, load_target("mi300x"))
    shipped = next(candidate for candidate in some if candidate.key == shipped_key(some))
    assert len({candidate.key for candidate in some}) == len(some)
    assert shipped.label == "seed_wave BLOCK=256 EACH=4" and any(candidate.move for candidate in some)
    assert replace(shipped, choice=dict(reversed(list(shipped.choice.items())))).key == shipped.key
    assert replace(shipped, source=shipped.source.replace("[256, ", "[256,")).key == shipped.key
