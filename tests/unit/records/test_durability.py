import pytest

from records.durability import is_conclusion, must_wait
from records.evaluation import Evaluation, Verdict


@pytest.mark.parametrize(
    ("purpose", "waits"),
    [("compile", False), ("estimate", False), ("verify", True), ("benchmark", True), ("confirm", True)],
)
def test_only_what_is_dear_to_make_again_waits(purpose: str, waits: bool) -> None:
    assert must_wait(purpose) is waits


@pytest.mark.parametrize("purpose", ["compile", "estimate", "verify", "benchmark", "confirm"])
@pytest.mark.parametrize("accepted", [True, False])
def test_an_accepted_benchmark_alone_ends_its_experiment(purpose: str, accepted: bool) -> None:
    verdict = Verdict("time" if accepted else "execute", accepted, "OK" if accepted else "B.5")
    assert is_conclusion(purpose, Evaluation("k", "c", {}, verdict)) is (accepted and purpose == "benchmark")
