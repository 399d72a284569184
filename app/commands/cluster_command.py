"""`cluster`: Show the nodes, stations, queue and throughput of a Ray cluster."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from app.commands.options import Json
from app.screen import emit, note, say, table
from records.quantity import counted

Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="The cluster's head; else KERNEL_SCIENTIST_RAY_ADDRESS, else the one that this machine is part of.",
        show_default=False,
    ),
]
Release = Annotated[
    bool,
    typer.Option(
        "--release", help="End the stations, so that others can use the GPUs; a run at work starts them again."
    ),
]


def command(address: Address = None, release: Release = False, json: Json = False) -> None:
    """Show the nodes of a Ray cluster, what each GPU does, who waits, and how many answers a minute there are."""
    from app.clusters import checked_cluster, cluster_link
    from app.settings import load_settings

    link = cluster_link(load_settings(), checked_cluster(f"ray:{address}" if address else "ray"))
    if release:
        released = link.release()
        if json:
            emit({"released": released})
        else:
            note("kernel-scientist: the stations are ended" if released else "kernel-scientist: there are no stations")
        return
    state = link.state()
    if json:
        emit({"nodes": state["nodes"], **state["supervisor"]})
        return
    _show(state["nodes"], state["supervisor"])


def _show(nodes: list[dict[str, Any]], work: dict[str, Any]) -> None:
    node_names = {node["id"]: f"{node['name']} ({node['id'][:8]})" for node in nodes}
    rows = []
    for node in nodes:
        declared = ", ".join(f"{name} {count:g}" for name, count in sorted(node["resources"].items()))
        rows.append([node_names[node["id"]], "alive" if node["is_alive"] else "gone", declared or "nothing"])
    table(["node", "state", "declares"], rows)
    if work["stations"]:
        say("")
        table(
            ["node", "station", "state", "answered", "for run", "device or fault"],
            [
                [
                    node_names.get(station["node"], station["node"][:8]),
                    station["slot"],
                    station["state"],
                    str(station["answered"]),
                    station["run"],
                    station["why"] or station["place"],
                ]
                for station in work["stations"]
            ],
            right=[3],
        )
    else:
        say("\nNo stations: the first run with --on ray starts one on each GPU and lab share.")
    say(
        f"\n{counted(work['running'], 'request')} at work, {work['waiting']} waiting, "
        f"{work['per_minute']:g} answers a minute over the last five, {counted(work['lost'], 'station')} lost at work"
    )
    for run, counts in work["runs"].items():
        say(f"  {run}: {counts['running']} at work, {counts['waiting']} waiting, {counts['served_s']:.0f} s served")
