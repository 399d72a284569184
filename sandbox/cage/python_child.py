"""A caged Python: this interpreter with its library, the packages that are named, and nothing else.

    view, argv = python_child(("numpy", "records", "tasks"), "tasks.somewhere", "argument")
    run(argv, cwd=folder, env=ENVIRONMENT, limits=..., cage=cage, view=view.with_folder(folder))

Packages are found by their own folders, not by the folder that holds them, which may hold a user's files as well.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from records.errors import MachineError
from sandbox.cage.view import SYSTEM_LIBRARIES, View, loaders

ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
_BOOT = """
import importlib.util, json, runpy, sys
class Named:
    def __init__(self, roots):
        self.roots = roots
    def find_spec(self, name, path=None, target=None):
        if name in self.roots:
            folder = self.roots[name]
            if folder.endswith((".py", ".so")):
                return importlib.util.spec_from_file_location(name, folder)
            return importlib.util.spec_from_file_location(
                name, folder + "/__init__.py", submodule_search_locations=[folder]
            )
roots, module = json.loads(sys.argv[1]), sys.argv[2]
sys.meta_path.insert(0, Named(roots))
sys.dont_write_bytecode = True
sys.argv[:] = sys.argv[2:]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def python_child(packages: Sequence[str], module: str, *arguments: str) -> tuple[View, list[str]]:
    """Give the view and the argument list of a Python process whose main module is one of these packages'.

    MachineError where a package is not installed here.
    """
    roots = {name: _root(name) for name in packages}
    base = Path(getattr(sys, "_base_executable", "") or sys.executable).absolute()
    beside = [Path(f"{root}.libs") for root in roots.values()]  # where wheels keep their shared libraries
    system = [Path(name) for name in (*SYSTEM_LIBRARIES, sysconfig.get_config_var("LIBDIR") or "/usr/lib")]
    readable = {*roots.values(), *beside, *system, Path(sysconfig.get_path("stdlib"))}
    view = View(
        readable=tuple(sorted(path for path in readable if path.exists())),
        executable=tuple(dict.fromkeys((base, base.resolve(), *loaders()))),
        devices=(Path("/dev/null"), Path("/dev/urandom")),
    )
    roots_json = json.dumps({name: str(root) for name, root in roots.items()})
    return view, [str(base), "-I", "-S", "-c", _BOOT, roots_json, module, *arguments]


def _root(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise MachineError(f"the package {name} is not installed here; run ./kernel-scientist again")
    path = Path(spec.origin).resolve()
    return path.parent if path.name == "__init__.py" else path
