"""The recipes of docs/cluster.md, taken from the page: typed, submitted to this machine, and read as the operator does.

`ray` is a program that notes what it is asked. Where Ray itself is installed, its options are looked up too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sandbox.target import target_names

PAGE = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text(encoding="utf-8")
NOTE = """#!{python}
import json, os, sys
with open(os.environ["NOTED"], "a") as file:
    file.write(json.dumps([sys.argv[1:], os.environ.get("RAY_AUTH_MODE")]) + "\\n")
"""


def block(kind: str, after: str) -> str:
    match = re.search(rf"```{kind}\n(.*?)```", PAGE[PAGE.index(after) :], re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "ray"
    program.parent.mkdir()
    program.write_text(NOTE.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NOTED", str(tmp_path / "noted"))
    return tmp_path / "noted"


def asked(noted: Path) -> list[list[str]]:
    return [json.loads(line)[0] for line in noted.read_text(encoding="utf-8").splitlines()]


def declared(words: list[str]) -> dict[str, Any]:
    """The resources of a node as Ray reads them, which the supervisor must know."""
    joined = dict(word.split("=", 1) for word in words if "=" in word)
    text = joined.get("--resources") or words[words.index("--resources") + 1]
    options: dict[str, Any] = json.loads(text)
    assert options and set(options) <= {"lab", *target_names()} and all(isinstance(n, int) for n in options.values())
    return options


def test_what_is_typed_by_hand_starts_a_head_and_nodes_that_declare_what_they_have(noted: Path, tmp_path: Path) -> None:
    subprocess.run(["bash", "-euc", block("", "**By hand**")], cwd=tmp_path, check=True)
    head, *nodes = asked(noted)
    assert head == ["start", "--head", "--port", "6379", "--num-cpus", "1"]
    assert [declared(words) for words in nodes] == [{"h200": 2}, {"lab": 16}]
    assert all(words[:3] == ["start", "--address", "head.example:6379"] for words in nodes)
    modes = [json.loads(line)[1] for line in noted.read_text(encoding="utf-8").splitlines()]
    assert modes[1:] == ["token", "token"]


@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
def test_ray_has_the_options_of_all_recipes() -> None:
    from ray.scripts.scripts import start

    options = {name for option in start.params for name in option.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", block("", "**By hand**") + block("python", "**Slurm**"))) <= options


def test_the_array_of_slurm_starts_a_node_in_each_job(
    noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("submitit", reason="needs submitit")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(block("python", "**Slurm**"), names)
    assert [job.result() for job in names["jobs"]] == [0] * 4
    options = asked(noted)
    assert len(options) == 4 and all(words[:3] == ["start", "--block", "--address"] for words in options)
    assert [declared(words) for words in options] == [{"mi300x": 8}] * 4


def test_the_operator_starts_nodes_that_declare_what_the_manifest_says(noted: Path, tmp_path: Path) -> None:
    manifest = pytest.importorskip("yaml", reason="needs PyYAML").safe_load(block("yaml", "**Kubernetes**"))
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayCluster")
    spec = manifest["spec"]
    assert set(spec) == {"headGroupSpec", "workerGroupSpecs"}
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        (container,) = group["template"]["spec"]["containers"]
        assert container["name"] and container["image"] == "IMAGE"
        assert all(isinstance(value, str) for value in group["rayStartParams"].values()), "the operator reads strings"
        options = " ".join(f"--{name}={value}" for name, value in group["rayStartParams"].items())
        subprocess.run(["bash", "-euc", f"ray start {options}"], cwd=tmp_path, check=True)
    (workers,) = spec["workerGroupSpecs"]
    head, node = asked(noted)
    assert head == ["start", "--num-cpus=1"] and declared(node) == {"mi300x": 8}
    assert workers["template"]["spec"]["containers"][0]["resources"]["limits"] == {"amd.com/gpu": 8}
    assert workers["replicas"] == 4 and workers["groupName"] == "mi300x"
