"""A stranger's reference.py in its cage: it answers as one at hand would; whatever else it tries is one sentence."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imports.confined import LIMITS as IMPORTS
from records.errors import TaskError
from sandbox.cage.confinement import Cage
from sandbox.process import ProcessLimits
from sandbox.task_child import LIMITS, TaskChild
from sandbox.task_child import limits as task_limits
from tasks.linter import lint
from tasks.loader import FOLDER, load_task, task_names
from tasks.recorded import FILE, Draw, archive, key_of
from tasks.task import Case
from tests.support.compiler_cache import toolchain
from tests.support.few import few

SMALL = replace(LIMITS, cpu_s=2, idle_s=1.0, resident_bytes=400 << 20, folder_bytes=64 << 20, file_bytes=64 << 20)
CASE = Case("n=3", {"n": 3}, 7)
SECRET = "the user's own words"
SOUND = """
import numpy as np
def make_inputs(case, rng):
    return {"x": rng.standard_normal(case.dims["n"], dtype=np.float32)}
def reference(inputs, case):
    return {"y": inputs["x"].astype(np.float64) * 2}
def baseline(inputs, case):
    return {"y": inputs["x"] * 2}
"""


@pytest.fixture(scope="module")
def cage() -> Cage:
    tool_cage = toolchain().cage
    if not tool_cage.is_strict:
        pytest.skip("this machine cannot keep a program from its user's files")
    return tool_cage


@pytest.fixture
def child(cage: Cage) -> Iterator[Callable[..., TaskChild]]:
    children: list[TaskChild] = []

    def make(code: str, limits: ProcessLimits = SMALL) -> TaskChild:
        children.append(TaskChild(Path("/somewhere/reference.py"), code, cage, limits))
        return children[-1]

    yield make
    for task_child in children:
        task_child.close()


@pytest.mark.parametrize("name", few([name for name in task_names() if load_task(name).shortcuts], 4))
def test_a_task_in_the_cage_says_what_it_says_here(name: str, tmp_path: Path, cage: Cage) -> None:
    """To the last bit, in the same types and orders of memory, with all its families and shortcuts."""
    shutil.copytree(FOLDER / name, tmp_path / name)
    local = load_task(name)
    remote = load_task(tmp_path / name, None, lambda path, code, answers: TaskChild(path, code, cage).functions())
    case = local.tests[0]
    inputs, remote_inputs = local.draw(case), remote.draw(case)
    for first, other in (
        (inputs, remote_inputs),
        (local.reference(inputs, case), remote.reference(remote_inputs, case)),
    ):
        assert {n: (a.dtype, a.tobytes(), a.flags.f_contiguous) for n, a in first.items()} == {
            n: (a.dtype, a.tobytes(), a.flags.f_contiguous) for n, a in other.items()
        }
    assert local.in_order is not None and remote.in_order is not None
    assert {n: a.tobytes() for n, a in local.in_order(inputs, case).items()} == {
        n: a.tobytes() for n, a in remote.in_order(remote_inputs, case).items()
    }
    assert local.variants is not None and remote.variants is not None
    rng, same_rng = np.random.default_rng(5), np.random.default_rng(5)
    families, others_families = local.variants(inputs, case, rng), remote.variants(remote_inputs, case, same_rng)
    assert list(families) == list(others_families)
    for family, tensors in families.items():
        assert all(np.array_equal(a, others_families[family][n]) for n, a in tensors.items())
    assert local.shortcuts is not None and remote.shortcuts is not None
    assert list(local.shortcuts(inputs, case)) == list(remote.shortcuts(remote_inputs, case))
    assert lint(remote, plants=False) == ()


def test_an_own_check_is_asked_too(child: Callable[..., TaskChild]) -> None:
    code = SOUND + "def check(inputs, outputs, case):\n    return bool((outputs['y'] > 0).all()), 'not above zero'\n"
    check = child(code).functions()["check"]
    x = {"x": np.ones(3, np.float32)}
    assert check(x, {"y": np.ones(3, np.float32)}, CASE) == (True, "not above zero")
    assert check(x, {"y": -np.ones(3, np.float32)}, CASE) == (False, "not above zero")


def test_changed_are_taken_back_there_too(child: Callable[..., TaskChild]) -> None:
    code = SOUND + "def within(made, drawn, case):\n    return {'x': np.where(made['x'] > 9, drawn['x'], made['x'])}\n"
    within = child(code).functions()["within"]
    changed = within({"x": np.array([1, 99, 3], np.float32)}, {"x": np.zeros(3, np.float32)}, CASE)
    assert {name: x.tolist() for name, x in changed.items()} == {"x": [1.0, 0.0, 3.0]}


TRIES = {  # what it tries; each gives 1 where it got through
    "read": "open(SECRET_PATH).read()",
    "list": "os.listdir(os.path.dirname(SECRET_PATH))",
    "write beside": "open(SECRET_PATH, 'w').write('mine')",
    "write at home": "open(os.path.expanduser('~/ks-mine'), 'w')",
    "write to the packages": "open(np.__file__, 'a')",
    "link": "os.link(SECRET_PATH, 'linked')",
    "open a link": "(os.symlink(SECRET_PATH, 'a-link'), open('a-link').read())",
    "passwords": "open('/etc/passwd').read()",
    "the parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "the parent's environment": "open(f'/proc/{os.getppid()}/environ', 'rb').read()[0]",
    "connect": "socket.create_connection(('127.0.0.1', 9))",
    "bind": "socket.socket().bind(('127.0.0.1', 0))",
    "a local socket": "socket.socket(socket.AF_UNIX)",
    "fork": "os.fork() or os._exit(0)",
    "run": "subprocess.run(['/bin/true'], check=True)",
    "kill": "os.kill(PARENT, 9)",
    "signal the session": "os.killpg(os.getpgid(PARENT), 9)",
    "trace": "ctypes.CDLL(None).ptrace(16, PARENT, 0, 0) == 0 or nothing_there",
    "a device": "os.mknod('dev', 0o600 | 0o020000, os.makedev(1, 3))",
    "mount": "ctypes.CDLL(None).mount(b'none', b'.', b'tmpfs', 0, None) == 0 or nothing_there",
}


def test_what_it_may_not_do(child: Callable[..., TaskChild], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    code = f"""
import ctypes, os, socket, subprocess
SECRET_PATH, PARENT = {str(secret)!r}, {os.getpid()}
{SOUND}
def reference(inputs, case):
    through = []
    for number, attempt in enumerate({list(TRIES.values())!r}):
        try:
            eval(attempt)
            through.append(number)
        except BaseException:
            pass
    return {{"y": np.array(through, np.int32)}}
"""
    outputs = child(code).functions()["reference"]({"x": np.ones(3, np.float32)}, CASE)
    assert [list(TRIES)[number] for number in outputs["y"]] == []
    assert secret.read_text() == SECRET
    assert secret.stat().st_nlink == 1


def test_an_attempt_can_succeed_here(tmp_path: Path) -> None:
    """Without a cage it gets through, so that the test above means something."""
    (tmp_path / "secret").write_text(SECRET)
    assert eval(TRIES["list"], {"SECRET_PATH": str(tmp_path / "secret"), "os": os}) == ["secret"]


def answer(message: bytes) -> str:
    """The body that gives this answer and no other, for the process ends there."""
    return f"import os, sys; os.write(int(sys.argv[2]), {message!r}); os._exit(0)"


FAULTS = {  # the body of `reference`, and words of the sentence
    "raises": ("raise KeyError('\\x1b[31m' + 'x' * 5000)", r"reference\.py:\d+: KeyError"),
    "leaves": ("import sys; sys.exit(0)", "SystemExit"),
    "ends at once": ("import os; os._exit(0)", "ended its process with status 0"),
    "aborts": ("import os; os.abort()", "ended its process with status"),
    "crashes": ("import ctypes; ctypes.string_at(0)", "ended its process with status"),
    "runs for ever": ("while True: pass", "of processor time"),
    "sleeps for ever": ("import time; time.sleep(1e6)", "waits for something that never comes"),
    "takes all memory": ("a = [np.ones(1 << 24) for _ in range(1 << 20)]", "of memory"),
    "fills the disk": ("\n    for n in range(99): open(str(n), 'wb').write(bytes(1 << 24))", "reference.py"),
    "no dictionary": ("return 5", "must return a dictionary"),
    "no arrays": ("return {'y': [1.0]}", "no array of a known type"),
    "objects": ("return {'y': np.array([object()])}", "no array of a known type"),
    "complex": ("return {'y': np.zeros(3, complex)}", "no array of a known type"),
    "too deep": ("return reference(inputs, case)", "RecursionError"),
    "its own answer": (answer(b'{"rows": [["y", "f64", [1 << 40], "C"]], "families": []}\n'), "no usable answer"),
    "a long answer": (answer(b"x" * (1 << 17)), "answer is too long"),
    "a broken answer": (answer(b"[" * 60000 + b"\n"), "no usable answer"),
    "a file that is not there": (answer(b'{"rows": [["y", "f64", [1], "C"]], "families": [""]}\n'), "no usable answer"),
    "shapes that are none": (answer(b'{"rows": [["y", "f64", [-1], "C"]], "families": [""]}\n'), "no proper shape"),
}


def limits(words: str) -> ProcessLimits:
    """Less processor time for those who take all that they may."""
    return replace(SMALL, cpu_s=1) if "processor time" in words else SMALL


@pytest.mark.parametrize(("body", "words"), FAULTS.values(), ids=FAULTS)
def test_what_goes_wrong_in_there_is_one_sentence(child: Callable[..., TaskChild], body: str, words: str) -> None:
    functions = child(f"{SOUND}\ndef reference(inputs, case):\n    {body}\n", limits(words)).functions()
    with pytest.raises(TaskError, match=words) as caught:
        functions["reference"]({"x": np.ones(3, np.float32)}, CASE)
    assert len(str(caught.value)) < 700
    assert str(caught.value).isprintable()
    assert functions["baseline"]({"x": np.ones(3, np.float32)}, CASE)["y"].tolist() == [2.0, 2.0, 2.0], "it goes on"


def test_what_the_limits_end_is_not_tried_again_and_the_sentence_names_the_setting(
    child: Callable[..., TaskChild],
) -> None:
    """A bomb in any question costs its limit once, however much the questions before it have taken."""
    body = "sum(range(1 << 62)) if case.dims['n'] > 3 else None\n    return {'y': inputs['x'] * 2.0}"
    functions = child(f"{SOUND}\ndef reference(inputs, case):\n    {body}\n", replace(SMALL, cpu_s=1)).functions()
    x = {"x": np.ones(3, np.float32)}
    functions["reference"](x, CASE)
    before = os.times()
    with pytest.raises(TaskError, match=r"1 s of processor time; .* KERNEL_SCIENTIST_TASK_SECONDS"):
        functions["reference"](x, replace(CASE, dims={"n": 4}))
    after = os.times()
    assert after.children_user - before.children_user < 1.6
    functions["reference"](x, CASE)


def test_a_reference_may_take_the_machines_memory_unless_a_user_says_how_much() -> None:
    assert LIMITS.cpu_s == IMPORTS.cpu_s and LIMITS.resident_bytes >= IMPORTS.resident_bytes
    assert (task_limits(7, 2).cpu_s, task_limits(7, 2).resident_bytes) == (7, 2 << 30)


def test_links_it_leaves_in_its_folder_are_not_written_through(child: Callable[..., TaskChild], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    body = f"""
    import os, sys
    os.symlink({str(secret)!r}, "mine")
    os.write(int(sys.argv[2]), b'{{"rows": [], "families": [""]}}\\n')
    return {{"y": np.ones(1)}}
"""
    functions = child(f"{SOUND}\ndef reference(inputs, case):{body}").functions()
    with pytest.raises(TaskError):
        functions["reference"]({"x": np.ones(3, np.float32)}, CASE)
    assert secret.read_text() == SECRET


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def (", "SyntaxError"),
        ("import no_such_package", "ModuleNotFoundError"),
        ("x = 1", "the function 'make_inputs' is missing"),
        ("import sys; sys.exit()", "SystemExit"),
        ("import os; os._exit(3)", "status 3"),
        ("while True: pass", "of processor time"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_one_sentence(child: Callable[..., TaskChild], code: str, words: str) -> None:
    with pytest.raises(TaskError, match=words):
        child(code, limits(words)).functions()


def test_a_process_that_was_ended_while_nobody_asked_is_started_again(child: Callable[..., TaskChild]) -> None:
    functions = child(SOUND).functions()
    x = {"x": np.ones(3, np.float32)}
    assert functions["reference"](x, CASE)["y"].tolist() == [2.0, 2.0, 2.0]
    time.sleep(1.5)  # longer than it may stand idle
    assert functions["reference"](x, CASE)["y"].tolist() == [2.0, 2.0, 2.0]


RECORDED = """
from pathlib import Path
import numpy as np
from tasks.recorded import FILE, answer
def make_inputs(case, rng):
    return {"x": np.arange(case.dims["n"], dtype=np.float32)}
def reference(inputs, case):
    return answer(Path(__file__).with_name(FILE), inputs, case, "reference", {"y": "f32"})
def baseline(inputs, case):
    return {"y": np.frombuffer(Path(__file__).with_name(FILE).read_bytes(), dtype=np.uint8)}
"""


def test_recorded_answers_are_the_bytes_that_were_verified(cage: Cage, tmp_path: Path) -> None:
    """Whatever lies, or is linked, beside the code by the time they are asked for."""
    x = np.arange(3, dtype=np.float32)
    kept = archive([Draw(key_of({"x": x}, CASE), {"reference": {"y": x * 2}})], {})
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / FILE).symlink_to(tmp_path / "secret.txt")
    served = TaskChild(tmp_path / "reference.py", RECORDED, cage, SMALL, kept)
    try:
        functions = served.functions()
        assert functions["reference"]({"x": x}, CASE)["y"].tolist() == [0.0, 2.0, 4.0]
        with pytest.raises(TaskError):  # the file itself is out of its reach
            functions["baseline"]({"x": x}, CASE)
    finally:
        served.close()
