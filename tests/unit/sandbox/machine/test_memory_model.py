"""Litmus cases of the memory model: each with a twin that differs in what orders the accesses, and is quiet."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.machine.memory_script import play

TWO_WAVES = "launch 1\n0 begins waves=2\n"
ONE_WAVE = "launch 1\n0 begins waves=1\n"
TWO_GROUPS = "region 0 filled\nregion 1 filled\nlaunch 2\n0 begins waves=1\n1 begins waves=1\n"
LANES = "rules lanes_meet\n"

# Lines that end in `-` stand in the faulty script only, lines that end in `+` in the twin only. A line of the faulty
# script that ends in `!` is the finding's, one that ends in `?` the other access's.
CASES = {
    # LDS, between waves
    "read without a barrier": (
        "race raw waves",
        TWO_WAVES,
        """
        0.0 store lds value=5 rising=1 ?
        0.0 wait lgkm=0
        0 barrier +
        0.1 load lds turn=1 !
        """,
    ),
    "write that has not drained at the barrier": (
        "undrained raw waves",
        TWO_WAVES,
        """
        0.0 store lds value=5 ?
        0.0 wait lgkm=0 +
        0 barrier
        0.1 load lds !
        """,
    ),
    "write that a wait for the other counter does not drain": (
        "undrained raw waves",
        TWO_WAVES,
        """
        0.0 store lds value=5 ?
        0.0 wait vm=0 -
        0.0 wait lgkm=0 +
        0 barrier
        0.1 load lds !
        """,
    ),
    "last of three writes is under way": (
        "undrained raw waves",
        TWO_WAVES,
        """
        0.0 store lds at=0
        0.0 store lds at=256
        0.0 store lds at=512 value=1 ?
        0.0 wait lgkm=1
        0 barrier
        0.1 load lds at=256 +
        0.1 load lds at=512 ! -
        """,
    ),
    "a scalar load under way hides which are complete": (
        "undrained raw waves",
        TWO_WAVES,
        """
        0.0 store lds value=1 ?
        0.0 scalar to=s4
        0.0 wait lgkm=1 -
        0.0 wait lgkm=0 +
        0 barrier
        0.1 load lds !
        """,
    ),
    "overwritten while another wave reads": (
        "race war waves",
        TWO_WAVES,
        """
        0.0 store lds value=1
        0.0 wait lgkm=0
        0 barrier
        0.1 load lds ?
        0.1 wait lgkm=0
        0 barrier +
        0.0 store lds value=2 !
        """,
    ),
    "overwritten behind a barrier that the read has not drained at": (
        "undrained war waves",
        TWO_WAVES,
        """
        0.0 store lds value=1
        0.0 wait lgkm=0
        0 barrier
        0.1 load lds ?
        0.1 wait lgkm=0 +
        0 barrier
        0.0 store lds value=2 !
        """,
    ),
    "two waves write different values": (
        "race waw waves",
        TWO_WAVES,
        """
        0.0 store lds value=1 ?
        0.1 store lds value=2 ! -
        0.1 store lds value=1 +
        """,
    ),
    "bytes of one word by two waves": (
        "race waw waves",
        TWO_WAVES,
        """
        0.0 store lds bytes=1 step=4 at=0 value=1 ?
        0.1 store lds bytes=1 step=4 at=1 value=2 +
        0.1 store lds bytes=1 step=4 at=0 value=2 ! -
        """,
    ),
    "halves of one word by two waves, then the word": (
        "race raw waves",
        TWO_WAVES,
        """
        0.0 store lds bytes=2 step=4 at=0 value=1
        0.1 store lds bytes=2 step=4 at=2 value=2 ?
        0.0 wait lgkm=0
        0.1 wait lgkm=0
        0 barrier +
        0.0 load lds bytes=4 !
        """,
    ),
    "halves of a word that was whole": (
        "race raw waves",
        TWO_WAVES,
        """
        0.0 store lds value=7 ?
        0.0 wait lgkm=0
        0 barrier +
        0.1 load lds bytes=2 step=4 at=2 !
        """,
    ),
    "vectors written, words read": (
        "race raw waves",
        TWO_WAVES,
        """
        0.0 store lds bytes=16 value=1 ?
        0.0 wait lgkm=0
        0 barrier +
        0.1 load lds at=512 !
        """,
    ),
    "atomics before which a plain write is not ordered": (
        "race raw waves",
        TWO_WAVES,
        """
        0.0 store lds value=0 ?
        0.0 wait lgkm=0
        0 barrier +
        0.1 add lds value=1 !
        """,
    ),
    "a plain write hidden behind the wave's own atomics": (
        "race raw waves",
        TWO_WAVES,
        """
        0.0 store lds value=0 ?
        0.0 add lds value=1
        0.0 wait lgkm=0
        0 barrier +
        0.1 add lds value=1 !
        """,
    ),
    "a histogram read before the others have added": (
        "race raw waves",
        TWO_WAVES,
        """
        0.0 store lds value=0
        0.0 wait lgkm=0
        0 barrier
        0.0 add lds value=1
        0.1 add lds value=1 ?
        0.0 wait lgkm=0
        0.1 wait lgkm=0
        0 barrier +
        0.0 load lds !
        """,
    ),
    "the last to arrive by a counter in LDS": (
        "race raw waves",
        TWO_WAVES,
        """
        0.0 store lds at=4096 lanes=0 value=0
        0.0 wait lgkm=0
        0 barrier
        0.0 store lds value=1 ?
        0.0 wait lgkm=0
        0.0 addret lds at=4096 lanes=0 value=1 +
        0.0 addret lds at=4100 lanes=0 value=1 -
        0.1 addret lds at=4096 lanes=0 value=1
        0.1 wait lgkm=0
        0.1 load lds !
        """,
    ),
    "a third wave, by way of the second one": (
        "race raw waves",
        "launch 1\n0 begins waves=3\n",
        """
        0.0 store lds at=4096 lanes=0 value=0
        0.0 wait lgkm=0
        0 barrier
        0.0 store lds value=1 ?
        0.0 add lds at=4096 lanes=0 value=1
        0.1 add lds at=4096 lanes=0 value=1 +
        0.2 addret lds at=4100 lanes=0 value=1 -
        0.2 addret lds at=4096 lanes=0 value=1 +
        0.2 load lds !
        """,
    ),
    "half of the waves one barrier ahead": (
        "undrained raw waves",
        TWO_WAVES,
        """
        0 barrier
        0.0 store lds value=1 ?
        0.0 wait lgkm=0 +
        0 barrier
        0 barrier
        0.1 load lds !
        """,
    ),
    # straight into LDS
    "loaded straight into LDS, read by another wave": (
        "undrained raw waves",
        TWO_WAVES,
        """
        0.0 direct at=0 ?
        0.0 wait lgkm=0 -
        0.0 wait vm=0 +
        0 barrier
        0.1 load lds !
        """,
    ),
    "loaded straight into LDS, read by its own wave": (
        "missing_wait raw wave",
        ONE_WAVE,
        """
        0.0 direct at=0
        0.0 direct at=256 ?
        0.0 wait vm=1
        0.0 load lds at=0
        0.0 wait vm=0 +
        0.0 load lds at=256 !
        """,
    ),
    # lanes of one wave
    "lanes of one instruction write different values to one place": (
        "race waw instruction",
        ONE_WAVE,
        """
        0.0 store lds modulus=128 value=1 rising=1 ! -
        0.0 store lds modulus=128 value=1 +
        """,
    ),
    "lanes of one instruction, in global memory": (
        "race waw instruction",
        "region 0 filled\nlaunch 1\n0 begins waves=1\n",
        """
        0.0 store modulus=128 value=1 rising=1 ! -
        0.0 store modulus=128 value=1 +
        """,
    ),
    "exchange without a meeting": (
        "race raw wave",
        LANES + ONE_WAVE,
        """
        0.0 store lds value=1 rising=1 ?
        0.0 meet +
        0.0 load lds turn=1 !
        """,
    ),
    "the place is reused without a meeting": (
        "race war wave",
        LANES + ONE_WAVE,
        """
        0.0 store lds value=1 rising=1
        0.0 meet
        0.0 load lds turn=1 ?
        0.0 meet +
        0.0 store lds value=2 !
        """,
    ),
    "all lanes have read what one writes": (
        "race war wave",
        LANES + ONE_WAVE,
        """
        0.0 store lds lanes=63 at=0 step=0 value=1
        0.0 meet
        0.0 load lds at=0 step=0 ?
        0.0 meet +
        0.0 store lds lanes=63 at=0 step=0 value=2 !
        """,
    ),
    "exchange through global memory without a meeting": (
        "race raw wave",
        LANES + "region 0 filled\n" + ONE_WAVE,
        """
        0.0 store value=1 rising=1 ?
        0.0 meet +
        0.0 load turn=1 !
        """,
    ),
    "all lanes set one flag": (
        "race waw wave",
        LANES + "region 0 filled\n" + ONE_WAVE,
        """
        0.0 store step=0 value=1
        0.0 store lanes=7 at=0 step=0 value=1 +
        0.0 store lanes=7 at=0 step=0 value=2 ! -
        """,
    ),
    # global memory, in a workgroup
    "the wave next door": (
        "race raw waves",
        "region 0 filled\n" + TWO_WAVES,
        """
        0.0 store value=1 rising=1 ?
        0 barrier +
        0.1 load !
        """,
    ),
    "shifted in place": (
        "race war waves",
        "region 0 filled\n" + TWO_WAVES,
        """
        0.0 store at=0 value=1
        0.1 store at=256 value=2
        0 barrier
        0.0 load at=4 ?
        0.1 load at=260
        0 barrier +
        0.1 store at=256 value=3 !
        """,
    ),
    "read by two waves, written by the second": (
        "race war waves",
        "region 0 filled\n" + TWO_WAVES,
        """
        0.0 load
        0.1 load ?
        0 barrier +
        0.1 store value=3 !
        """,
    ),
    "a buffer passed without the fence that the source needs": (
        "undrained raw waves",
        "rules global_needs_fence\nregion 0 filled\n" + TWO_WAVES,
        """
        0.0 store value=1 ?
        0.0 fence +
        0.1 fence
        0 barrier
        0.1 load !
        """,
    ),
    "halves of one word by two waves in global memory": (
        "race waw waves",
        "region 0 filled\n" + TWO_WAVES,
        """
        0.0 store bytes=2 step=4 at=0 value=1 ?
        0.1 store bytes=2 step=4 at=2 value=2 +
        0.1 store bytes=2 step=4 at=0 value=2 ! -
        """,
    ),
    # between workgroups
    "two workgroups write one place": (
        "race waw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        1.0 store at=256 value=2 +
        1.0 store at=0 value=2 ! -
        """,
    ),
    "two workgroups write the same value": (
        "race waw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        1.0 store value=1 +
        1.0 store value=2 ! -
        """,
    ),
    "a later launch reads": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        launch 2 +
        1 begins waves=1 +
        1.0 load !
        """,
    ),
    "the seam of two workgroups, halves": (
        "race waw groups",
        TWO_GROUPS,
        """
        0.0 store bytes=2 value=1 rising=1 ?
        1.0 store bytes=2 value=2 rising=1 at=128 +
        1.0 store bytes=2 value=2 rising=1 at=126 ! -
        """,
    ),
    "a plain sum beside atomic ones": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 load -
        0.0 store value=1 ? -
        0.0 add value=1 +
        1.0 add value=1 !
        """,
    ),
    "read in one workgroup, written in another": (
        "race war groups",
        TWO_GROUPS,
        """
        0.0 load ?
        1.0 store at=256 value=2 +
        1.0 store at=0 value=2 ! -
        """,
    ),
    "a flag without a release": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        0.0 wbl2 agent +
        0.0 wait vm=0
        0.0 add region=1 lanes=0 value=1
        1.0 addret region=1 lanes=0 value=0
        1.0 wait vm=0
        1.0 inv agent
        1.0 load !
        """,
    ),
    "a release that was not waited for": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        0.0 wbl2 agent
        0.0 wait vm=0 +
        0.0 add region=1 lanes=0 value=1
        1.0 addret region=1 lanes=0 value=0
        1.0 wait vm=0
        1.0 inv agent
        1.0 load !
        """,
    ),
    "a release that was not waited for, as the stores before it were": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        0.0 wait vm=0 +
        0.0 wbl2 agent
        0.0 add region=1 lanes=0 value=1
        1.0 addret region=1 lanes=0 value=0
        1.0 wait vm=0
        1.0 load !
        """,
    ),
    "a release at workgroup scope": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        0.0 wbl2 group -
        0.0 wbl2 system +
        0.0 wait vm=0
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 lanes=0
        1.0 wait vm=0
        1.0 inv agent
        1.0 load !
        """,
    ),
    "a flag that is stored at workgroup scope": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store group region=1 lanes=0 value=1 ? -
        0.0 store agent region=1 lanes=0 value=1 +
        1.0 load agent region=1 lanes=0 !
        """,
    ),
    "written after the release": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 +
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store value=2 ? -
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 lanes=0
        1.0 wait vm=0
        1.0 inv agent
        1.0 load !
        """,
    ),
    "looks at another flag": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 at=64 lanes=0 -
        1.0 load agent region=1 lanes=0 +
        1.0 wait vm=0
        1.0 inv agent
        1.0 load !
        """,
    ),
    "looks at the flag and does not wait for it": (
        "race raw groups",
        TWO_GROUPS,
        """
        0.0 store value=1 ?
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 lanes=0
        1.0 wait vm=0 +
        1.0 load !
        """,
    ),
    "another wave reads before the one that looked has told it": (
        "race raw groups",
        "region 0 filled\nregion 1 filled\nlaunch 2\n0 begins waves=1\n1 begins waves=2\n",
        """
        0.0 store value=1 ?
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 lanes=0
        1.0 wait vm=0
        1.0 inv agent
        1 barrier +
        1.1 load !
        """,
    ),
    "another wave's write, released without a barrier": (
        "race raw groups",
        "region 0 filled\nregion 1 filled\nlaunch 2\n0 begins waves=2\n1 begins waves=1\n",
        """
        0.1 store value=1 ?
        0 barrier +
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 lanes=0
        1.0 wait vm=0
        1.0 inv agent
        1.0 load !
        """,
    ),
    "read before, looked without an invalidation": (
        "race raw groups stale",
        TWO_GROUPS,
        """
        1.0 load
        1.0 wbl2 agent
        1.0 wait vm=0
        1.0 store agent region=1 at=64 lanes=0 value=1
        0.0 load agent region=1 at=64 lanes=0
        0.0 wait vm=0
        0.0 inv agent
        0.0 store value=1 ?
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 lanes=0
        1.0 wait vm=0
        1.0 inv agent +
        1.0 load !
        """,
    ),
    "no invalidation, where one is asked for": (
        "race raw groups stale",
        "rules needs_acquire\n" + TWO_GROUPS,
        """
        0.0 store value=1 ?
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 lanes=0
        1.0 wait vm=0
        1.0 inv agent +
        1.0 load !
        """,
    ),
    "relaxed data behind a relaxed ticket": (
        "race raw groups relaxed",
        TWO_GROUPS,
        """
        0.0 store agent lanes=0 value=1 ?
        0.0 wait vm=0 +
        0.0 addret region=1 lanes=0 value=1
        0.0 wait vm=0
        1.0 store agent at=4 lanes=0 value=1
        1.0 wait vm=0 +
        1.0 addret region=1 lanes=0 value=1
        1.0 wait vm=0
        1.0 load agent lanes=0 !
        """,
    ),
    "relaxed data behind a ticket that releases": (
        "race raw groups relaxed",
        TWO_GROUPS,
        """
        0.0 store agent lanes=0 value=1 ?
        0.0 wbl2 agent +
        0.0 wait vm=0 +
        0.0 addret region=1 lanes=0 value=1
        1.0 addret region=1 lanes=0 value=1
        1.0 wait vm=0
        1.0 load agent lanes=0 !
        """,
    ),
    "by way of a third workgroup": (
        "race raw groups",
        "region 0 filled\nregion 1 filled\nlaunch 3\n0 begins waves=1\n1 begins waves=1\n2 begins waves=1\n",
        """
        0.0 store value=1 ?
        0.0 wbl2 agent
        0.0 wait vm=0
        0.0 store agent region=1 lanes=0 value=1
        1.0 load agent region=1 lanes=0 +
        1.0 wait vm=0 +
        1.0 wbl2 agent
        1.0 wait vm=0
        1.0 store agent region=1 at=4 lanes=0 value=1
        2.0 load agent region=1 at=4 lanes=0
        2.0 wait vm=0
        2.0 load !
        """,
    ),
    # waits
    "a loaded register used before it is there": (
        "missing_wait",
        "region 0 filled\n" + ONE_WAVE,
        """
        0.0 load to=v4
        0.0 load at=256 to=v5 ?
        0.0 wait vm=1
        0.0 use v4
        0.0 wait vm=0 +
        0.0 use v5 !
        """,
    ),
    "a register overwritten before the load has": (
        "missing_wait",
        "region 0 filled\n" + ONE_WAVE,
        """
        0.0 load to=v4 ?
        0.0 wait vm=0 +
        0.0 write v4 !
        """,
    ),
    "loads of different kinds into one register": (
        "missing_wait",
        "region 0 filled\n" + ONE_WAVE,
        """
        0.0 store lds value=1
        0.0 load to=v4 ?
        0.0 load at=256 to=v4 +
        0.0 load lds to=v4 ! -
        """,
    ),
    "a scalar load waited for in part": (
        "missing_wait",
        ONE_WAVE,
        """
        0.0 scalar to=s4 ?
        0.0 scalar to=s6
        0.0 wait lgkm=1 -
        0.0 wait lgkm=0 +
        0.0 use s4 !
        """,
    ),
    "a flat load waited for by one counter": (
        "missing_wait",
        "region 0 filled\n" + ONE_WAVE,
        """
        0.0 load flat to=v4 ?
        0.0 wait vm=0
        0.0 wait lgkm=0 +
        0.0 use v4 !
        """,
    ),
    # unwritten memory
    "LDS that nobody wrote": (
        "uninitialised raw",
        ONE_WAVE,
        """
        0.0 store lds lanes=0-49 value=1 -
        0.0 store lds value=1 +
        0.0 wait lgkm=0
        0.0 load lds !
        0 ends
        """,
    ),
    "half of a word": (
        "uninitialised raw",
        ONE_WAVE,
        """
        0.0 store lds bytes=2 step=4
        0.0 store lds bytes=2 step=4 at=2 +
        0.0 load lds !
        0 ends
        """,
    ),
    "atomics on memory that nobody cleared": (
        "uninitialised raw",
        "region 2\nlaunch 1\n0 begins waves=1\n",
        """
        0.0 store region=2 value=0 +
        0.0 add region=2 value=1 !
        0 ends
        """,
    ),
    "the reader is what comes too early": (
        "race raw waves",
        TWO_WAVES,
        """
        0.1 load lds ! -
        0.0 store lds value=1 ?
        0.0 wait lgkm=0
        0 barrier
        0.1 load lds +
        """,
    ),
}


def _lines(text: str, dropped: str) -> list[str]:
    lines = [line.strip() for line in text.strip().splitlines()]
    return [line.rstrip("+-").rstrip() for line in lines if not line.endswith(dropped)]


def _scripts(prologue: str, text: str) -> tuple[str, str, int, int]:
    """The faulty script, its twin, and the lines of the finding and of the other access in the faulty one; 0: none."""
    head = prologue.strip().splitlines()
    faulty, twin = (head + _lines(text, dropped) for dropped in "+-")
    marks = [next((i for i, line in enumerate(faulty, 1) if line.endswith(mark)), 0) for mark in "!?"]
    return *("\n".join(line.rstrip("!? ") for line in script) + "\n" for script in (faulty, twin)), *marks


@pytest.mark.parametrize("name", CASES)
def test_faulty(name: str) -> None:
    expected, prologue, text = CASES[name]
    script, _, line, other = _scripts(prologue, text)
    words = play(script).split()
    assert words, "nothing was said"
    assert [words[0], *words[3:]][: len(expected.split())] == expected.split() or set(expected.split()) <= set(words)
    assert int(words[1]) == line
    assert not other or int(words[2]) == other


@pytest.mark.parametrize("name", CASES)
def test_twin(name: str) -> None:
    _, prologue, text = CASES[name]
    assert play(_scripts(prologue, text)[1]) == ""
