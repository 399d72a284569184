from typing import Any

import pytest

from app.commands.options import limit_values
from app.run_request import RunRequest, checked_limits, new_run
from app.settings import load_settings
from records.errors import UsageError
from tasks.loader import load_task


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("generations", 0),
        ("generations", -3),
        ("picks", 1.5),
        ("tunings", "4"),
        ("tries", 101),
        ("literature_k", True),
        ("roofline_fraction", -0.1),
        ("clear_pct", float("nan")),
        ("generatons", 2),
    ],
)
def test_a_limit_that_cannot_be_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        checked_limits({name: value})
    with pytest.raises(UsageError, match=name):
        new_run(load_settings(), RunRequest("row_softmax", author="playbook", limits={name: value}), task())


def test_limits_have_their_own_types_and_what_is_left_out_is_left_out() -> None:
    limits = checked_limits({"generations": 2.0, "clear_pct": 2, "picks": None})
    assert limits == {"generations": 2, "clear_pct": 2.0}
    assert [type(v) for v in limits.values()] == [int, float]


def test_a_run_that_asks_remembers_it() -> None:
    run = new_run(load_settings(), RunRequest("row_softmax", author="playbook", approves=True), task())
    assert run.config["approves"] is True
    assert "approves" not in new_run(load_settings(), RunRequest("row_softmax", author="playbook"), task()).config


def task() -> Any:
    return load_task("row_softmax")


def test_limits_are_named_on_the_command_line() -> None:
    assert checked_limits(limit_values(["islands=3", "attainable_fraction=0"])) == {
        "islands": 3,
        "attainable_fraction": 0.0,
    }
    with pytest.raises(UsageError, match="NAME=VALUE"):
        limit_values(["islands"])
    with pytest.raises(UsageError, match="no limit 'isles'"):
        checked_limits(limit_values(["isles=3"]))
