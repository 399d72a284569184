from __future__ import annotations

import pytest

from sandbox.amdgcn.waits import WaitEvent, event, stalls

LOAD, STORE, BARRIER = WaitEvent("load"), WaitEvent("access"), WaitEvent("barrier")


def wait(left: int = 0) -> WaitEvent:
    return WaitEvent("wait", left)


def waited(*blocks: list[WaitEvent], regions: tuple[tuple[int, int], ...] = ()) -> list[float]:
    return [whole for whole, _ in stalls(blocks, regions)]


def test_loads_that_go_out_together_are_waited_for_once() -> None:
    assert waited([LOAD, LOAD, LOAD, wait(2), wait(1), wait()]) == [1.0]
    assert waited([LOAD, wait(), LOAD, wait(), LOAD, wait()]) == [3.0]


def test_a_store_under_way_is_no_reason_to_wait() -> None:
    assert waited([STORE, wait()]) == [0.0]
    assert waited([LOAD, STORE, wait(1)]) == [1.0]


def test_what_one_turn_of_a_loop_fetches_for_the_next_is_waited_for_there() -> None:
    # The block with the wait stands before the one with the load, as compilers lay loops out.
    assert waited([], [wait()], [LOAD], []) == [0.0, 0.0, 0.0, 0.0]
    assert waited([], [wait()], [LOAD], [], regions=((1, 2),)) == [0.0, 1.0, 0.0, 0.0]


def test_loads_from_before_a_barrier_are_told_apart() -> None:
    assert stalls([[LOAD, BARRIER, wait()]], ()) == [(1.0, 1.0)]
    assert stalls([[BARRIER, LOAD, wait()]], ()) == [(1.0, 0.0)]


@pytest.mark.parametrize(
    ("mnemonic", "operands", "meaning"),
    [
        ("s_waitcnt", " vmcnt(3) lgkmcnt(0)", WaitEvent("wait", 3)),
        ("s_waitcnt", " lgkmcnt(0)", None),
        ("global_load_dword", " v0, v[2:3], off", LOAD),
        ("buffer_store_dword", "", STORE),
        ("global_atomic_add_f32", "", STORE),
        ("s_barrier", "", BARRIER),
        ("ds_read_b32", "", None),
        ("v_add_f32_e32", "", None),
    ],
)
def test_instructions_mean_loads_waits_and_barriers(mnemonic: str, operands: str, meaning: WaitEvent | None) -> None:
    assert event(mnemonic, operands) == meaning
