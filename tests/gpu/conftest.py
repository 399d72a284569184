"""Turns at the GPU: beside tests of other processes an exploit that keeps something in LDS has nothing to keep."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.support.gpu_turns import ALONE, gpu_turn, turns_folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """The whole of a test, what it sets up included: a judge starts with kernels of its own."""
    if item.get_closest_marker("skip"):  # no GPU here
        return (yield)
    exploit = getattr(item, "callspec", None) and item.callspec.params.get("exploit")  # type: ignore[attr-defined]
    with gpu_turn(turns_folder(), alone=getattr(exploit, "name", "") in ALONE):
        return (yield)
