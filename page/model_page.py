"""The page of a scan of a model in one file: its regions, the largest gain first, without a program in it."""

from __future__ import annotations

import base64
import hashlib
from html import escape

from page.single_file import style
from records.model_scan import ModelRegion, ModelScan, ModelTensor
from records.outside_text import visible
from records.quantity import format_us

HEADINGS = ("region", "kind", "calls", "time", "share", "bound by", "gap", "model's gain", "inputs", "what to expect")
DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{model}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{model}</h1>
<p>{summary}</p>
{notes}
<div class="scroll"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
</main>
</body>
</html>
"""


def model_page(scan: ModelScan) -> str:
    """Write the page."""
    css = style()
    return DOCUMENT.format(
        digest=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
        model=_text(f"Scan of {scan.model}"),
        style=css,
        summary=_text(summary(scan)),
        notes="".join(f'<p class="note">{_text(note)}</p>' for note in scan.notes),
        head="".join(f"<th>{heading}</th>" for heading in HEADINGS),
        rows="\n".join(_row(region) for region in scan.regions),
    )


def summary(scan: ModelScan) -> str:
    """Say in one sentence what the scan holds."""
    count = sum(region.is_task for region in scan.regions)
    return (
        f"{scan.source}: {len(scan.regions)} regions, {count} of them can be tasks, "
        f"{format_us(scan.total_us)} {scan.times} on {scan.device}."
    )


def shape_text(tensor: ModelTensor) -> str:
    """Write a tensor as `bf16[512, 1024]`."""
    return f"{tensor.dtype}[{', '.join(map(str, tensor.shape))}]"


def _row(region: ModelRegion) -> str:
    cells = (
        f'<span class="mono" title="{_text(", ".join(region.operators))}">{_text(region.name)}</span>',
        _text(region.kind),
        str(region.count),
        format_us(region.time_us),
        f"{region.share:.1%}",
        region.bound_by or "?",
        f"{region.gap:.2f}×" if region.gap else "?",
        f"{region.model_gain:.3f}×",
        _text("; ".join(shape_text(t) for t in region.inputs)),
        _text(region.reason),
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _text(text: str) -> str:
    return escape(visible(text))
