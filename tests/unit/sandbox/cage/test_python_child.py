from __future__ import annotations

import json
from pathlib import Path

import pytest

from records.errors import MachineError
from sandbox.amdgcn.toolchain import build_launcher
from sandbox.cage import landlock
from sandbox.cage.confinement import candidates
from sandbox.cage.python_child import ENVIRONMENT, python_child
from sandbox.isolation import failure
from sandbox.process import ProcessLimits, run
from tests.support.compiler_cache import toolchain

PROGRAM = """
import json, sys, os, socket
import numpy
from tasks.dtypes import stored
def tried(what):
    try:
        what()
        return True
    except OSError:
        return False
print(json.dumps({
    "sum": float(numpy.arange(4.0).sum()), "stored": float(stored(1.5, "f16")), "words": sys.argv[1:],
    "writes": tried(lambda: open("result", "w").write("x")),
    "reads": tried(lambda: open(sys.argv[1]).read()),
    "lists": tried(lambda: os.listdir(os.path.dirname(sys.argv[1]))),
    "connects": tried(lambda: socket.socket()),
    "forks": tried(os.fork),
    "environment": sorted(os.environ),
}))
"""


def test_a_caged_python_has_its_packages_and_nothing_else(tmp_path: Path) -> None:
    package, folder, other = tmp_path / "strange", tmp_path / "work", tmp_path / "other" / "file"
    for path in (package, folder, other.parent):
        path.mkdir()
    (package / "__init__.py").touch()
    (package / "program.py").write_text(PROGRAM)
    other.write_text("secret")
    launcher = build_launcher(toolchain())
    view, argv = python_child(("numpy", "ml_dtypes", "records", "tasks"), "strange.program", str(other))
    roots = json.loads(argv[5])
    argv[5] = json.dumps({**roots, "strange": str(package)})
    view = view.with_folder(folder).with_readable(package)
    strict = [cage for binary in (launcher, None) for cage in candidates(binary) if cage.is_strict]
    holding = [cage for cage in strict if not failure(cage, launcher)]
    assert holding or not landlock.version()
    for cage in holding:
        limits = ProcessLimits(cpu_s=20)
        completed = run(argv, cwd=folder, env=ENVIRONMENT, limits=limits, cage=cage, view=view)
        assert completed.returncode == 0, completed.stderr
        answer = json.loads(completed.stdout)
        assert answer.pop("environment")[-1] == "PYTHONHASHSEED"
        assert answer == {
            "sum": 6.0,
            "stored": 1.5,
            "words": [str(other)],
            "writes": True,
            "reads": False,
            "lists": False,
            "connects": False,
            "forks": False,
        }


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(MachineError, match="no_such_package is not installed"):
        python_child(("no_such_package",), "no_such_package.main")
