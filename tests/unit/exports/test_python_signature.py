"""Exports keep the parameters of the function that a task was made of."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest

from exports.python_signature import python_signature
from exports.signature import frozen_texts, signature_of
from tasks.loader import load_task
from tasks.origin import Origin


def function_of(parameters: str) -> Any:
    """A function with the signature of an export, which returns what the kernel would get."""
    task = load_task("rms_norm")
    task = replace(task, provenance=Origin("f.py", parameters=parameters))
    signature = python_signature(task, ["x", "w", "eps"], {"x": "int", "w": "int", "eps": "float"})
    body = "\n".join(f"    {line}" for line in (*signature.guards, f"return ({', '.join(signature.handed)},)"))
    space: dict[str, Any] = {}
    exec(f"def f({', '.join(signature.declared)}):\n{body}", space)
    return space["f"]


def test_order_defaults_and_names_are_the_originals() -> None:
    task = load_task("rms_norm")
    names = [t.name for t in task.inputs]
    f = function_of(f"eps: eps=1e-6, the_x: {names[0]}=None, *, axis=-1")
    assert list(inspect.signature(f).parameters)[:3] == ["eps", "the_x", "axis"]
    assert inspect.signature(f).parameters["eps"].default == 1e-6


def test_a_frozen_parameter_stays_and_refuses_another_value() -> None:
    f = function_of("x, w, eps=0.5, dim=-1, bias=None")
    assert f(1, 2) == (1, 2, 0.5) and f(1, 2, 0.25, -1, None) == (1, 2, 0.25)
    for other in ({"dim": 0}, {"bias": 3}):
        with pytest.raises(ValueError, match="frozen"):
            f(1, 2, **other)


def test_what_is_frozen_is_named() -> None:
    task = replace(load_task("rms_norm"), provenance=Origin("f.py", parameters="x, dim=-1", frozen="a = 0.5"))
    signature = signature_of(task)
    texts = frozen_texts(task, signature)
    assert "dim = -1" in texts and "a = 0.5" in texts
    handed = {s.name for s in signature.scalars}
    assert all(any(t.startswith(f"{s.name} = ") for t in texts) for s in task.scalars if s.name not in handed)
