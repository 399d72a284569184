"""Loops over launches whose turns can be counted: in steps, by doubling, by halving."""

from __future__ import annotations

from dataclasses import dataclass

from imports.hosts.amounts import Amount, called, named, number, plus, times
from imports.hosts.host_expressions import HostExpressions
from imports.hosts.host_syntax import Binary, Name, Node, Repetition, Unary
from imports.hosts.values import Frame, Value
from imports.names import free_name


@dataclass(frozen=True)
class Turns:
    """The loop of a plan, and what the host's variable is in it."""

    variable: str
    value: Amount
    loop: tuple[str, Amount, Amount, Amount]  # name, start, stop, step


def closed_form(walk: HostExpressions, loop: Repetition, frame: Frame) -> Turns | None:
    """Count the turns of a loop; None where they cannot be counted."""
    if not (isinstance(loop.test, Binary) and isinstance(loop.test.left, Name) and loop.step is not None):
        return None
    name = loop.test.left.text
    start, bound = frame.variables.get(name), walk.value(loop.test.right, frame)
    change = _change(walk, loop.step, name, frame)
    if not isinstance(start, Amount) or not isinstance(bound, Amount) or change is None:
        return None
    turn_name = free_name(
        "turn" if name in walk.memory.sizes else name, {*walk.memory.sizes, *(row[0] for row in walk.memory.loops)}
    )
    sign, by = change
    test = loop.test.sign
    if sign == "+" and test in ("<", "<=", "!="):
        stop = plus(bound, number(1)) if test == "<=" else bound
        return Turns(name, named(turn_name, start.value), (turn_name, start, stop, by))
    if sign == "-" and test in (">", ">="):
        stop = plus(bound, number(1), -1) if test == ">=" else bound
        return Turns(name, named(turn_name, start.value), (turn_name, start, stop, plus(number(0), by, -1)))
    return _by_factor(name, turn_name, sign, test, start, bound) if by.constant == 2 else None


def _by_factor(name: str, turn_name: str, sign: str, test: str, start: Amount, bound: Amount) -> Turns | None:
    """Doubling from a number to a bound, or halving down to 1."""
    if sign == "*" and start.constant and test in ("<", "<="):
        most = plus(bound, number(1), -1) if test == "<" else bound
        steps = most if start.constant == 1 else named(f"{most.bracketed} // {start.constant}", None)
        turns = _logarithm(plus(times(steps, number(2)), number(1)), most.value, start.constant)
        value = times(number(start.constant), named(f"(1 << {turn_name})", 1))
        return Turns(name, Amount(value.terms, start.constant), (turn_name, number(0), turns, number(1)))
    if sign == "/" and ((test == ">" and bound.constant == 0) or (test == ">=" and bound.constant == 1)):
        turns = _logarithm(plus(times(start, number(2)), number(1)), start.value, 1)
        return Turns(
            name, named(f"({start.bracketed} >> {turn_name})", start.value), (turn_name, number(0), turns, number(1))
        )
    return None


def _logarithm(amount: Amount, most: int | None, start: int) -> Amount:
    logarithm = called("log2", [amount], lambda a: a.bit_length() - 1)
    return (
        logarithm
        if logarithm.constant is not None
        else Amount(logarithm.terms, None if most is None else (most // start).bit_length())
    )


def _change(walk: HostExpressions, step: Node, name: str, frame: Frame) -> tuple[str, Amount] | None:
    """Find the operator and the number by which the step changes the variable."""
    match step:
        case Unary(sign=sign, operand=Name(text=own)) if own == name and sign[:2] in ("++", "--"):
            return sign[0], number(1)
        case Binary(sign="+=" | "-=" | "*=" | "/=" | "<<=" | ">>=" as sign, left=Name(text=own), right=right) if (
            own == name
        ):
            return _by(sign[:-1], walk.value(right, frame))
        case Binary(sign="=", left=Name(text=own), right=Binary(sign=sign, left=Name(text=same), right=right)) if (
            own == name == same and sign in ("+", "-", "*", "/", "<<", ">>")
        ):
            return _by(sign, walk.value(right, frame))
    return None


def _by(sign: str, value: Value) -> tuple[str, Amount] | None:
    if not isinstance(value, Amount):
        return None
    if sign in ("<<", ">>"):
        return ("*" if sign == "<<" else "/", number(1 << value.constant)) if value.constant is not None else None
    return sign, value
