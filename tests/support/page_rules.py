"""What must hold of any page in a browser: nothing cut off, names and roles, order of headings, contrast."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from tests.support.browser import Browser

RULES = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
NAMED = {"button", "link", "tab", "checkbox", "combobox", "searchbox", "listbox", "img", "tabpanel", "dialog"}


def rule(name: str) -> str:
    """The expression that lists what offends against a rule of `page_rules.js`."""
    return f"(() => {{ {RULES}\nreturn {name}(); }})()"


def spoken(browser: Browser) -> list[tuple[str, str, int]]:
    """Role, name and level of what a screen reader is given, in its order."""
    rows = []
    for node in browser.call("Accessibility.getFullAXTree")["nodes"]:
        if node.get("ignored"):
            continue
        level = next((p["value"]["value"] for p in node.get("properties", ()) if p["name"] == "level"), 0)
        rows.append((node["role"]["value"], node.get("name", {}).get("value", ""), int(level)))
    return rows


def offences(browser: Browser) -> list[str]:
    """What a reader without a mouse, a good screen or eyes stumbles over on the page as it is shown."""
    rows = spoken(browser)
    headings = [(level, name) for role, name, level in rows if role == "heading"]
    jumps = [name for before, (level, name) in pairwise(headings) if level > before[0] + 1]
    return [
        *(f"a {role} without a name" for role, name, _ in rows if role in NAMED and not name.strip()),
        *([] if [level for level, _ in headings if level == 1] == [1] else ["not one heading of the first level"]),
        *(f"the heading {name!r} is more than one level below the one before it" for name in jumps),
        *browser.run(rule("badReferences")),
        *browser.run(rule("badContrast")),
    ]
