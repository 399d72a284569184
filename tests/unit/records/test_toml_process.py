"""The process that reads TOML: bombs end it, never this one, and the next text is read as if nothing was."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from records.errors import MachineError, PlanError
from records.toml_child import read
from records.toml_process import TomlProcess, toml_process
from sandbox.candidate.parse import MAX_PLAN_BYTES, parse
from sandbox.candidate.pp_tokens import scan
from sandbox.candidate.tuning import moved_to_front

PLAN = '[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [64]\nargs = ["x"]\n'


def source(extra: str, plan: str = PLAN) -> str:
    return f"/*+++\n{plan}{extra}\n+++*/\n__global__ void k(float* x) {{}}\n"


@pytest.mark.slow
def test_a_text_that_takes_too_long_is_refused_and_the_next_is_read() -> None:
    process = TomlProcess(cpu_s=1, memory_bytes=512 << 20)
    bomb = ".".join(['"a"'] * 40_000) + " = 1\n"
    assert "too much time or memory" in process.read(bomb)["error"]
    assert process.read("b = 2\n") == {"table": {"b": 2}}
    process.close()


def test_a_process_without_memory_is_the_machines_fault() -> None:
    process = TomlProcess(memory_bytes=1 << 20)
    with pytest.raises(MachineError, match="does not run here"):
        process.read("a = 1\n")
    process.close()


def test_a_process_that_was_killed_is_started_again() -> None:
    process = TomlProcess()
    assert process.read("a = 1\n") == {"table": {"a": 1}}
    child = process._child
    assert child is not None
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert process.read("a = 2\n") == {"table": {"a": 2}}
    process.close()


def test_threads_get_their_own_answers() -> None:
    wrong = list[int]()

    def ask(number: int) -> None:
        for _ in range(20):
            if toml_process().read(f"a = {number}\n") != {"table": {"a": number}}:
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


BOMBS = {
    "a dotted key": ".".join(["a"] * 30_000) + " = 1",
    "a dotted table": "[" + ".".join(["a"] * 30_000) + "]",
    "a dotted key in a table": "x = {" + ".".join(["a"] * 30_000) + " = 1}",
    "a large plan": "# " + "x" * MAX_PLAN_BYTES,
    "an endless integer": "x = " + "9" * 50_000,
    "an endless hexadecimal": "x = 0x" + "f" * 50_000,
    "a date": "x = 2024-01-01",
    "deep lists": "x = " + "[" * 20_000,
    "deep tables": "x = " + "{a=" * 10_000,
    "lists that are closed": "x = " + "[" * 60 + "]" * 60,
    "many launches": PLAN * 65,
    "many tunables": "[tunables]\n" + "".join(f"T{n:02} = [1]\n" for n in range(33)),
    "many values": f"[tunables]\nTT = {list(range(257))}",
    "many constraints": "[constraints]\n" + "".join(f'c{n} = "1"\n' for n in range(33)),
    "many workspaces": "[workspace]\n" + "".join(f'w{n} = ["f32", 1]\n' for n in range(65)),
    "many dimensions": '[workspace]\nw = ["f32", 1, 1, 1, 1, 1, 1, 1, 1, 1]',
    "a long expression": '[constraints]\nc = "' + "1+" * 300 + '1"',
    "a long name": f"[tunables]\n{'T' * 200} = [1]",
    "a dtype that is a list": '[workspace]\nw = [["f32"], 1]',
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_plan_that_asks_for_much_is_refused_with_a_short_sentence(name: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse(source(BOMBS[name]))
    assert len(str(caught.value)) < 600


def test_many_dots_in_strings_and_remarks_are_no_long_key() -> None:
    assert parse(source(f'# {"." * 90}\n[constraints]\nc = "1" # {"." * 90}')).plan.constraints == {"c": "1"}


def _steps(act: Callable[[], object]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def test_the_work_of_parsing_grows_with_the_plan() -> None:
    once, twice = (_steps(lambda n=n: parse(source("# remark\n" * n))) for n in (500, 1000))  # type: ignore[misc]
    assert twice < 2.5 * once


def test_a_plan_of_empty_lines_is_tuned_at_once() -> None:
    """The search for a tunable's line looks at each line once; \\s* looked at all that follow, from each."""
    text = source("\n" * 60_000 + "[tunables]\n" + "\n" * 2_000 + "ROWS = [4, 2]\n")
    made, moved = moved_to_front(text, {"ROWS": 2})
    assert moved == {"ROWS"} and "ROWS = [2, 4]" in made and len(scan(made)) == len(scan(text))


@pytest.mark.parametrize("text", ["x = 9" + "9" * 5000, "x = 2024-01-01", "x = [[[[[[[[[[[[[1]]]]]]]]]]]]]", "x ="])
def test_the_reader_answers_for_every_text(text: str) -> None:
    assert set(read(text)) <= {"error", "line"} and read("x = 1.5") == {"table": {"x": 1.5}}


def test_a_confined_process_starts_no_other_and_refuses_the_same_texts() -> None:
    program = (
        "import sys\n"
        "from records.toml_process import read_toml_here, toml_process\n"
        "def refuse(event, _):\n"
        "    if event == 'subprocess.Popen': raise PermissionError(event)\n"
        "sys.addaudithook(refuse)\n"
        "read_toml_here()\n"
        "print([toml_process().read(text) for text in ('a = 1', 'a = ', '.'.join('a' * 99) + ' = 1')])\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, second, third = ast.literal_eval(ended.stdout)
    assert first == {"table": {"a": 1}} and "error" in second and "error" in third
