"""Goes through the statements of a host half, in the order in which they would run for the file's own sizes."""

from __future__ import annotations

from collections.abc import Sequence

from imports.hosts.amounts import Amount, named
from imports.hosts.host_arithmetic import NOTHING
from imports.hosts.host_file import Function
from imports.hosts.host_syntax import (
    Binary,
    Block,
    Call,
    DeclaredVariable,
    Evaluated,
    If,
    Leave,
    Name,
    Node,
    NotRead,
    RangeLoop,
    Repetition,
    Statement,
    Switch,
)
from imports.hosts.memory import HostUnclear
from imports.hosts.scanning import ENDS, allocates, assigned, called_names, ends, launches, named_in
from imports.hosts.types import Type
from imports.hosts.values import Frame, HostArray, Nothing
from imports.hosts.variables import HostVariables, is_same

MOST_TURNS = 64
MOST_CALLS = 24
LEFT = frozenset({"return", "break", "continue", "throw", "goto"})


class HostWalk(HostVariables):
    """Executes statements on values that may not be known."""

    def loop(self, loop: Repetition, frame: Frame) -> str:
        """Run a loop; loops are for those that can count their turns."""
        raise NotImplementedError

    def run_entry(self, function: Function, frame: Frame) -> None:
        """Run the function with which it begins."""
        self._frames.append(frame)
        self.run(self.file.statements(function), frame)

    def run(self, statements: Sequence[Statement], frame: Frame) -> str:
        """All of them; the word that left them, "" at their end."""
        for statement in statements:
            self.memory.work += 1
            left = self._one(statement, frame)
            if left:
                return left
        return ""

    def _one(self, statement: Statement, frame: Frame) -> str:
        match statement:
            case DeclaredVariable():
                self.declare(statement, frame)
            case Evaluated(value=value):
                self.value(value, frame)
                if isinstance(value, Call) and isinstance(value.callee, Name) and value.callee.text in ENDS:
                    return "return"
            case If():
                return self._if(statement, frame)
            case Repetition():
                return self.loop(statement, frame)
            case RangeLoop():
                return self._range_loop(statement, frame)
            case Switch():
                return self._switch(statement, frame)
            case Block(body=body):
                return self.run(body, frame)
            case Leave(word=word, value=value):
                self._result = self.value(value, frame) if value is not None and word == "return" else NOTHING
                return word
            case NotRead(words=words, line=line) if "<<<" in words or "LaunchKernel" in words:
                raise HostUnclear(f"the launch in line {line} could not be read")
        return ""

    def _if(self, statement: If, frame: Frame) -> str:
        self._learn(statement.test, statement.yes, frame)
        test = self.value(statement.test, frame)
        outcome = test.value if isinstance(test, Amount) else None
        if outcome is None:
            return self._unknown(statement, frame)
        assert isinstance(test, Amount)
        if "argc" in named_in([Evaluated(statement.test, 0)]) and any(ends(s) for s in (*statement.yes, *statement.no)):
            return ""  # it asks for arguments; what they would be is asked for where it is used
        if test.constant is None and (self._launches(statement.yes) or self._launches(statement.no)):
            if self._both(statement, test, frame):
                return ""
            self.memory.decisions.append(test.text if outcome else f"not ({test.text})")
        elif test.constant is None and not allocates((*statement.yes, *statement.no)):
            return self._either(statement, test, frame)
        return self.run(statement.yes if outcome else statement.no, frame)

    def _launches(self, body: Sequence[Statement]) -> bool:
        """Tell whether the statements launch, themselves or through functions."""
        return launches(body) or any(self._reaches(name) for name in called_names(body))

    def _both(self, statement: If, test: Amount, frame: Frame) -> bool:
        """Both branches, each under its condition; False, and nothing done, where they change more than launches do."""
        state, steps, decided = self.state(), len(self.memory.steps), len(self.memory.decisions)
        for body, condition in ((statement.yes, test.text), (statement.no, f"not {test.bracketed}")):
            self.memory.conditions.append(condition)
            left = self.run(body, frame)
            self.memory.conditions.pop()
            if left or not is_same(state):
                self.back(state, steps, decided)
                return False
        return True

    def _either(self, statement: If, test: Amount, frame: Frame) -> str:
        """Run the branch that is taken; numbers that it leaves different are chosen by the test."""
        state, steps, decided = self.state(), len(self.memory.steps), len(self.memory.decisions)
        chosen, other = (statement.yes, statement.no) if test.value else (statement.no, statement.yes)
        left = self.run(other, frame)
        skipped_state = [(holder, dict(holder.variables)) for holder, _ in state]
        self.back(state, steps, decided)
        if left:
            return self.run(chosen, frame)
        left = self.run(chosen, frame)
        for holder, variables in skipped_state:
            for name, value in variables.items():
                now = holder.variables.get(name)
                if isinstance(value, Amount) and isinstance(now, Amount) and value.text != now.text:
                    yes, no = (now, value) if test.value else (value, now)
                    text = f"({yes.bracketed} if {test.text} else {no.bracketed})"
                    holder.variables[name] = named(text, now.value)
        return left

    def _learn(self, test: Node, body: Sequence[Statement], frame: Frame) -> None:
        """Learn of a size from a program that ends where the size is no multiple of a number."""
        if not any(ends(s) for s in body):
            return
        if isinstance(test, Binary) and test.sign == "||":
            self._learn(test.left, body, frame)
            self._learn(test.right, body, frame)
        elif isinstance(test, Binary) and test.sign == "!=" and isinstance(test.left, Binary):
            self._learn(test.left, body, frame)
        elif isinstance(test, Binary) and test.sign == "%":
            size, step = self.value(test.left, frame), self.value(test.right, frame)
            if isinstance(size, Amount) and isinstance(step, Amount) and size.text in self.memory.sizes and step.value:
                self.memory.multiples[size.text] = step.value

    def _unknown(self, statement: If, frame: Frame) -> str:
        """Run a test that is not known: what either branch changes is not known afterwards."""
        test = self.value(statement.test, frame)
        if isinstance(test, Amount) and self._launches((*statement.yes, *statement.no)):
            self.memory.needed |= {n for n in test.names if self.memory.sizes.get(n) is None}
            return self.run(statement.yes, frame)
        for body in (statement.yes, statement.no):
            if self._launches(body):
                raise HostUnclear(
                    f"whether it launches in line {statement.line} depends on values that only a run of it would give"
                )
            self._forget(body, frame)
        return ""

    def _reaches(self, name: str, visited: frozenset[str] = frozenset()) -> bool:
        """Tell whether a host function launches a kernel, itself or through others."""
        if name in visited or name not in self.file.functions:
            return False
        texts = {w.text for w in self.file.functions[name].body}
        if not texts.isdisjoint({"<<<", "hipLaunchKernelGGL", "hipLaunchKernel", "cudaLaunchKernel"}):
            return True
        return any(self._reaches(other, visited | {name}) for other in texts & set(self.file.functions))

    def _forget(self, body: Sequence[Statement], frame: Frame) -> None:
        """Forget the values of all that the statements assign."""
        for name in assigned(body):
            holder, variable = frame.holder(name)
            if isinstance(holder.variables.get(variable), (Amount, Nothing)):
                holder.variables[variable] = self._named(variable, holder.kinds.get(variable, Type("")), NOTHING)

    def _switch(self, statement: Switch, frame: Frame) -> str:
        value = self.value(statement.value, frame)
        if not isinstance(value, Amount) or value.value is None:
            if any(launches(body) for _, body in statement.arms):
                raise HostUnclear(f"which launch line {statement.line} chooses is not known")
            return ""
        is_matched = False
        for label, body in statement.arms:
            label_value = self.value(label, frame) if label is not None else None
            is_matched = is_matched or (isinstance(label_value, Amount) and label_value.value == value.value)
            if is_matched and (left := self.run(body, frame)):
                return "" if left == "break" else left
        if not is_matched:
            for label, body in statement.arms:
                if label is None:
                    left = self.run(body, frame)
                    return "" if left == "break" else left
        return ""

    def _range_loop(self, statement: RangeLoop, frame: Frame) -> str:
        iterable = self.value(statement.iterable, frame)
        items = iterable.items if isinstance(iterable, HostArray) else []
        if not items and launches(statement.body):
            raise HostUnclear(f"how often line {statement.line} launches is not known")
        for item in items:
            frame.variables[statement.variable] = item
            if self.run(statement.body, frame) in ("return", "break"):
                break
        return ""
