import pytest

from records.durability import must_wait
from records.evaluation import Evaluation, Verdict


@pytest.mark.parametrize(
    ("purpose", "accepted", "waits"),
    [
        ("compile", True, False),
        ("compile", False, False),
        ("estimate", True, False),
        ("verify", True, True),
        ("verify", False, True),
        ("benchmark", True, False),
        ("benchmark", False, True),
        ("confirm", True, True),
        ("confirm", False, True),
    ],
)
def test_only_what_is_dear_to_make_again_and_not_followed_at_once_waits(
    purpose: str, accepted: bool, waits: bool
) -> None:
    verdict = Verdict("time" if accepted else "execute", accepted, "OK" if accepted else "B.5")
    assert must_wait(purpose, Evaluation("k", "c", {}, verdict)) is waits
