"""Loops of a host half that launch: as loops of the plan where their turns can be counted, else turn by turn."""

from __future__ import annotations

from dataclasses import replace

from imports.hosts.amounts import Amount
from imports.hosts.host_arithmetic import NOTHING
from imports.hosts.host_syntax import Binary, DeclaredVariable, Evaluated, Name, Repetition, Statement
from imports.hosts.host_walk import HostWalk
from imports.hosts.loops import Turns, closed_form
from imports.hosts.memory import HostUnclear
from imports.hosts.scanning import allocates, named_in
from imports.hosts.values import Frame, HostStep, Pointer
from imports.hosts.variables import exchanged, is_same

MOST_TURNS = 64


class HostLoops(HostWalk):
    """Goes through loops."""

    def loop(self, loop: Repetition, frame: Frame) -> str:
        """All turns of a loop; the word that left it for more than itself."""
        inner = Frame(frame.variables, frame.kinds, frame.types, frame.aliases)
        self.run([_plain(s) for s in loop.start], inner)
        if not self._launches(loop.body) and not allocates(loop.body):
            self._host_loop(loop, inner)
            return ""
        turns = closed_form(self, loop, inner) if not loop.is_after else None
        if turns is not None and self._folded(loop, turns, inner):
            return ""
        return self._unrolled(loop, inner)

    def _host_loop(self, loop: Repetition, frame: Frame) -> None:
        """Pass over a loop of the host's own: buffers that it names are touched, variables it assigns are unknown."""
        for name in named_in(loop.body):
            value = frame.variables.get(name)
            if isinstance(value, Pointer):
                self.memory.touched(value)
        self._forget(loop.body, frame)

    def _folded(self, loop: Repetition, turns: Turns, frame: Frame) -> bool:
        """One turn with the loop's number as a name; False, and nothing done, where turns change more than the number.

        Two turns where the first exchanges pointers and the second exchanges them back; behind an odd number of turns
        the results are copied to where an even one leaves them.
        """
        memory, first = self.memory, frame.variables[turns.variable]
        frame.variables[turns.variable] = turns.value
        state, steps, decided = self.state(), len(memory.steps), len(memory.decisions)
        turn_name = turns.loop[0]
        memory.loops.append(turns.loop)
        left = self.run(loop.body, frame)
        swapped = [] if left else exchanged(state)
        if not left and swapped and self._again(loop, turns, frame, steps):
            memory.loops.pop()
            odd = f"{turns.loop[2].bracketed} % 2 == 1"
            for was, now in swapped[:1]:
                memory.conditions.append(odd)
                memory.add(HostStep("copy", loop.line, buffers=(was, now)))
                memory.conditions.pop()
            left, is_kept = "", is_same(state)
        else:
            memory.loops.pop()
            is_kept = is_same(state)
        if not left and is_kept and not any(turn_name in text for text in memory.decisions[decided:]):
            frame.variables[turns.variable] = NOTHING
            return True
        self.back(state, steps, decided)
        frame.variables[turns.variable] = first
        return False

    def _again(self, loop: Repetition, turns: Turns, frame: Frame, steps: int) -> bool:
        """Run the second turn: the first becomes that of even numbers, this one that of odd ones."""
        turn_name, start, _, step = turns.loop
        if start.constant != 0 or step.constant != 1:
            return False
        memory, middle = self.memory, len(self.memory.steps)
        frame.variables[turns.variable] = turns.value
        if self.run(loop.body, frame):
            return False
        for index in range(steps, len(memory.steps)):
            when = f"{turn_name} % 2 == {int(index >= middle)}"
            before = memory.steps[index].when
            memory.steps[index] = replace(memory.steps[index], when=f"{before} and {when}" if before else when)
        return True

    def _unrolled(self, loop: Repetition, frame: Frame) -> str:
        for turn in range(MOST_TURNS + 1):
            if turn or not loop.is_after:
                test = self.value(loop.test, frame) if loop.test is not None else None
                if isinstance(test, Amount) and test.value is None and test.names and not turn:
                    self.memory.needed |= {n for n in test.names if self.memory.sizes.get(n) is None}
                    self.run(loop.body, frame)
                    return ""
                if not isinstance(test, Amount) or test.value is None:
                    raise HostUnclear(
                        f"how often the loop in line {loop.line} launches depends on values that only a run would give"
                    )
                if test.constant is None:
                    self._note_turns(loop)
                if not test.value:
                    return ""
            if turn == MOST_TURNS:
                break
            left = self.run(loop.body, frame)
            if left in ("return", "break", "throw"):
                return "" if left == "break" else left
            if loop.step is not None:
                self.value(loop.step, frame)
        raise HostUnclear(f"the loop in line {loop.line} launches more than {MOST_TURNS} times, each in its own way")

    def _note_turns(self, loop: Repetition) -> None:
        text = f"as many turns of the loop in line {loop.line}"
        if text not in self.memory.decisions:
            self.memory.decisions.append(text)


def _plain(statement: Statement) -> Statement:
    """Turn the declaration of a loop's variable into an assignment: its start is a number that is no size."""
    if isinstance(statement, DeclaredVariable) and statement.value is not None and not statement.extent:
        return Evaluated(Binary("=", Name(statement.name), statement.value), statement.line)
    return statement
