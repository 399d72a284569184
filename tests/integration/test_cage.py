"""Ways out of each level of the cage, for the compiler's view, the executor's and that of a task's reference."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.amdgcn.front_end import compiler_view
from sandbox.amdgcn.toolchain import build_launcher
from sandbox.cage.confinement import Cage, candidates
from sandbox.cage.python_child import python_child
from sandbox.cage.view import View
from sandbox.isolation import failure
from sandbox.lab.execution_place import executor_view
from sandbox.process import Completed, ProcessLimits, run
from tests.support.c_program import static_program
from tests.support.compiler_cache import toolchain

VIEWS = ("compiler", "executor", "reference")
LIMITS = ProcessLimits(cpu_s=20)
# Attempts that succeed for any user on any Linux while nothing confines them, so that a cage is what stops them.
ANYONE_CAN = """
descriptor environment read_file read_passwd read_by_dots read_by_place read_by_own_root read_by_others_root
link_symbolic read_by_link link_hard write_file append_file truncate_file create_beside create_tmp make_folder
rename_file remove_file rights_of_file times_of_file set_user_bit fifo list_folder list_root list_devices watch_file
device_zero device_full sys tcp_connect tcp_listen udp_send unix_connect abstract_connect unix_listen netlink
socket_pair list_processes proc_environ proc_maps proc_status proc_cmdline proc_self signal signal_all signal_thread
signal_thread_of_group signal_queue signal_by_descriptor process_descriptor affinity_of_other pin_other
limits_of_other clock_of_other session_of_other fork clone leave_group memory_file shared_memory message_queue
semaphores
""".split()  # noqa: SIM905
# On the lowest level files stay within reach: it has no fence around them.
FILES_ONLY = """
read_ write_ append_ truncate_ create_ make_ rename_ remove_ list_ device_ sys proc_ descriptor file_handle
""".split()  # noqa: SIM905


@dataclass(frozen=True)
class Scene:
    """A secret, a process and listeners of this user, and the words by which the attempts find them."""

    folder: Path
    work: Path
    victim: subprocess.Popen[bytes]
    words: tuple[str, ...]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(), work.mkdir()
    for name in ("secret", "moved", "removed"):
        (home / name).write_text("secret")
    name = f"ks-test-{os.getpid()}"
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(tcp.getsockname())
        for address in (str(home / "socket"), f"\0{name}"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        victim = subprocess.Popen(["sleep", "300"])
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        port = tcp.getsockname()[1]
        words = (str(home / "secret"), str(work), str(victim.pid), str(port), str(home / "socket"), name)
        yield Scene(home, work, victim, words)


def cages() -> list[Cage]:
    """The strict levels that hold on this machine, by the launcher and by Python."""
    launcher = build_launcher(toolchain())
    rungs = [*candidates(launcher), *candidates(None)]
    return [cage for cage in rungs if cage.is_strict and not failure(cage, launcher)]


def view_of(kind: str, program: Path, work: Path) -> View:
    if kind == "compiler":
        view = compiler_view(toolchain(), work)
    elif kind == "executor":
        return executor_view(program, work)
    else:
        view = python_child(("numpy", "ml_dtypes", "records", "tasks"), "tasks.dtypes")[0].with_folder(work)
    return view.with_program(program)


def attempt(cage: Cage, kind: str, scene: Scene, *words: str) -> Completed:
    program = static_program("escapes.c")
    view = view_of(kind, program, scene.work)
    return run([str(program), *words], cwd=scene.work, env={}, limits=LIMITS, cage=cage, view=view)


def left_behind(scene: Scene) -> list[str]:
    """Processes whose command line names this scene."""
    left = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(scene.work) in path.read_bytes():
                left.append(path.parent.name)
    return left


def bare(scene: Scene) -> set[str]:
    """The attempts that succeed with nothing around them."""
    descriptor = os.open(scene.words[0], os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    argv = [static_program("escapes.c"), "try", *scene.words]
    environment = {**os.environ, "KS_TEST_SECRET": "1"}
    try:
        ended = subprocess.run(argv, cwd=scene.work, env=environment, capture_output=True, text=True, close_fds=False)
    finally:
        os.close(descriptor)
    for process in left_behind(scene):
        os.kill(int(process), 9)
    return set(ended.stdout.split())


def test_without_a_cage_the_attempts_succeed(scene: Scene) -> None:
    assert set(ANYONE_CAN) - bare(scene) == set()
    assert len(ANYONE_CAN) > 60


@pytest.mark.parametrize("kind", VIEWS)
def test_no_attempt_succeeds_on_a_strict_rung(scene: Scene, kind: str) -> None:
    descriptor = os.open(scene.words[0], os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        for cage in cages():
            process = attempt(cage, kind, scene, "try", *scene.words)
            assert process.stdout.split() == ["done"], (cage, process)
            assert left_behind(scene) == []
    finally:
        os.close(descriptor)
    assert scene.victim.poll() is None
    assert (scene.folder / "secret").read_text() == "secret"
    assert sorted(path.name for path in scene.folder.iterdir()) == ["moved", "removed", "secret", "socket"]


@pytest.mark.parametrize("kind", VIEWS)
def test_no_other_program_starts_and_no_foreign_call_is_answered(scene: Scene, kind: str) -> None:
    shell = shutil.which("sh")
    for cage in cages():
        for words in (("exec", str(shell)), ("exec", "/bin/su"), ("foreign",)):
            assert attempt(cage, kind, scene, *words).stdout == "", (cage, words)


def test_limits_alone_stop_all_but_files(scene: Scene) -> None:
    cage = Cage("limits", (str(build_launcher(toolchain())),))
    process = attempt(cage, "executor", scene, "try", *scene.words)
    beyond = [name for name in process.stdout.split() if name != "done" and not name.startswith(tuple(FILES_ONLY))]
    assert beyond == []
    assert "read_file" in process.stdout.split()
    assert left_behind(scene) == []
