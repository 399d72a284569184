from typing import get_args

from records.code_meanings import CODES
from records.evaluation import Code


def test_each_code_of_a_verdict_has_a_meaning() -> None:
    assert tuple(CODES) == get_args(Code)
