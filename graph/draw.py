"""Draw both graphs into `docs/graph.md`: `python -m graph.draw`. The drawing is text and needs no network."""

from __future__ import annotations

from pathlib import Path

from graph.build import build_graph
from graph.subgraph import build_experiment

PAGE = Path(__file__).parent.parent / "docs" / "graph.md"


def drawn(page: str) -> str:
    """Draw the graph as it is now into the page, between each pair of markers."""
    for name, graph in (("main", build_graph()), ("experiment", build_experiment())):
        mermaid = graph.compile().get_graph().draw_mermaid().strip()
        block = f"<!-- {name} graph -->\n```mermaid\n{mermaid}\n```\n<!-- end -->"
        before, opened, tail = page.partition(f"<!-- {name} graph -->")
        _, closed, after = tail.partition("<!-- end -->")
        if not opened or not closed:
            raise ValueError(f"the page lacks the markers for the {name} graph")
        page = before + block + after
    return page


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
