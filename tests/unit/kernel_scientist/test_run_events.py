from kernel_scientist.run_events import AttemptMade, GenerationBegun, OtherEvent, event_of


def test_an_event_has_the_type_of_its_kind_and_leaves_out_what_that_does_not_have() -> None:
    told = {"event": "generation", "generation": 2, "of": 4, "usd": 0.5}
    assert event_of(told) == GenerationBegun(generation=2, of=4, usd=0.5)
    made = event_of(
        {
            "event": "attempt",
            "generation": 1,
            "experiment": "g001-e1",
            "attempt": "g001-e1-a0",
            "status": "rejected",
            "code": "B.3",
            "idea_pct": None,
            "usd": 0.0,
        }
    )
    assert isinstance(made, AttemptMade) and made.code == "B.3" and made.geomean_us is None


def test_an_event_of_a_kind_that_came_later_is_passed_on() -> None:
    told = {"event": "migrated", "generation": 3, "from": "a", "usd": 0.1}
    assert event_of(told) == OtherEvent(kind="migrated", fields={"generation": 3, "from": "a"}, usd=0.1)
