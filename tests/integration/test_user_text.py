"""Kernels that others bring as text: a coding agent over MCP, and a client of the graph."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from app.served_runs import ServedRuns
from app.settings import Settings
from app.user_text import task_of_text, user_text_of
from graph.serving import ServedFault, serve
from records.errors import UsageError
from tests.integration.test_cli_optimise import INPUTS, KERNEL, LAUNCH, REFERENCE

pytestmark = pytest.mark.slow
SIZES = {"rows": 256, "cols": 512}
FIELDS: dict[str, Any] = {"language": "hip", "inputs": INPUTS, "sizes": SIZES, "name": "blog", **LAUNCH}
CONFIG = {"configurable": {"thread_id": "a"}}


@pytest.mark.long
@pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")
def test_a_coding_agent_brings_a_kernel_and_takes_its_own_files(tmp_path: Path, compiler_cache: Path) -> None:
    import anyio

    from tests.support.mcp_client import answer, connected, refusal

    (tmp_path / "blog.hip").write_text(KERNEL)
    (tmp_path / "ref.py").write_text(REFERENCE)
    words = {"file": "blog.hip", "name": "blog", **LAUNCH, "inputs": INPUTS, "sizes": SIZES}

    async def session() -> dict[str, Any]:
        async with connected(tmp_path, compiler_cache) as client:
            assert 'inputs ["x=f32[rows,cols]"' in await refusal(client, "optimise", file="blog.hip")
            assert "which language" in await refusal(client, "optimise", source="x")
            begun = await answer(client, "optimise", **words, reference_file="ref.py", generations=1)
            while (await answer(client, "status", run=begun["run_id"]))["result"][0]["state"] == "running":
                await anyio.sleep(0.5)
            sheet = await answer(client, "show_task", task=begun["task"])
            assert [t["name"] for t in sheet["inputs"]] == ["x", "b"]
            assert "is there already" in await refusal(client, "export", run="last", path="ref.py", form="own")
            return await answer(client, "export", run=begun["run_id"], path="faster", form="own")

    files = anyio.run(session)
    assert files["path"] == "faster/blog.hip" and "blog_launch(" in (tmp_path / "faster/blog.h").read_text()
    assert {"faster/best.hip", "faster/blog.h", "faster/README.md"} <= set(files["files"])


def test_a_client_of_the_graph_brings_a_text_in_place_of_a_task(tmp_path: Path, compiler_cache: Path) -> None:
    settings = Settings(runs_folder=tmp_path / "runs", cache_folder=compiler_cache)
    graph = serve(ServedRuns(settings))
    graph.checkpointer = InMemorySaver()
    with pytest.raises(ServedFault, match="does not say what it computes"):
        graph.invoke({**FIELDS, "source": KERNEL}, CONFIG)
    limits = {"generations": 1, "picks": 1}
    asked = {**FIELDS, "source": KERNEL, "reference": REFERENCE, "author": "playbook", "on": "lab", "limits": limits}
    reply = graph.invoke(asked, CONFIG)
    assert reply["best_id"] and "bias_relu" in reply["best_source"]
    state = graph.get_state(CONFIG).values
    assert Path(state["task"]).is_dir() and not state["source"]


def test_the_same_text_has_the_same_task_again(tmp_path: Path, compiler_cache: Path) -> None:
    settings = Settings(runs_folder=tmp_path / "runs", cache_folder=compiler_cache)
    for fields, word in (({"source": "x", "language": "rust"}, "python, hip"), ({"sauce": "x"}, "no field 'sauce'")):
        with pytest.raises(UsageError, match=word):
            user_text_of(fields)
    with pytest.raises(UsageError, match="what x is"):
        task_of_text(settings, user_text_of({"source": "def f(x):\n    return x\n"}))
    assert not list((tmp_path / "runs" / "tasks").iterdir())
    text = user_text_of({**FIELDS, "source": KERNEL, "reference": REFERENCE})
    first = task_of_text(settings, text)
    assert task_of_text(settings, text) == first and (Path(first.task) / "seed.hip").is_file()
