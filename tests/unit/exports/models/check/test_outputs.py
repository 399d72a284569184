"""A model's outputs before and after, with float64 as the truth and eager's error as the yardstick."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from exports.models.check.checking import CheckRules, Subject, check  # noqa: E402
from exports.models.check.outputs import InDouble, compare  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of PyTorch, about itself


class Narrow(torch.nn.Module):  # type: ignore[misc]
    """Computes in bf16 and says so in its text."""

    def __init__(self) -> None:
        super().__init__()
        self.product = torch.nn.Linear(32, 32, dtype=torch.bfloat16)

    def forward(self, x: Any) -> Any:
        return torch.softmax(self.product(x).float(), -1).to(torch.bfloat16), x.argmax(-1)


class Off(Narrow):
    """The same, wrong by some thousandths in one row."""

    def forward(self, x: Any) -> Any:
        y, places = super().forward(x)
        return torch.cat([y[:1] * 1.05, y[1:]]), places


def draw(number: int) -> list[Any]:
    return [torch.randn(4, 32, generator=torch.Generator().manual_seed(number)).bfloat16()]


def test_the_truth_is_computed_in_double_whatever_the_model_asks_for() -> None:
    model = Narrow().double()
    with InDouble():
        y, places = model(draw(0)[0].double())
    assert y.dtype == torch.float64 and places.dtype == torch.int64


def test_the_same_model_is_right_and_one_row_that_is_off_is_told() -> None:
    torch.manual_seed(0)
    model, wrong = Narrow(), Off()
    wrong.load_state_dict(model.state_dict())
    same = compare(model, copy.deepcopy(model), draw, 20)
    assert same.right and same.rms_ratio == pytest.approx(1) and same.yardstick == "float64"
    found = compare(model, wrong, draw, 20)
    assert not found.right and "output 0 is" in found.reason


def test_a_whole_number_that_differs_is_wrong() -> None:
    model = Narrow()
    found = compare(model, lambda x: (model(x)[0], model(x)[1] + 1), draw, 20)
    assert "elements of output 1 differ from the float64 answer, and 0 without" in found.reason


class Speaker(Narrow):
    """Generates tokens."""

    def generate(self, x: Any, max_new_tokens: int) -> Any:
        return self(x)[1][:max_new_tokens].clone()


def test_greedy_decoding_is_compared_where_the_model_generates() -> None:
    model = Speaker()
    assert compare(model, model, draw, 20).decoding == "greedy decoding gives the same token in 4 of 4 places"


def test_without_a_device_the_check_compares_outputs_alone() -> None:
    model = Narrow()
    places = SimpleNamespace(counts={"k": {"replaced": 0, "kept": 1}}, reasons={"k": ("it was not verified for x",)})
    package: Any = SimpleNamespace(apply=lambda model, **_: model, report=lambda _: places)
    found = check(Subject("Narrow", model, draw, package, ("k",)), CheckRules(), lambda _: None)
    assert found.sentence == (
        "Narrow: no device: times were not compared; k is used nowhere (it was not verified for x); outputs right on "
        "20 draws, their error 1.00 of eager's"
    )
