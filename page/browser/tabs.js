// Tabs, and what a part of the page keeps when it is drawn again.

const TAB_STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

// Items [name, text, address]; the chosen one is in the order of the keyboard, arrows, Home and End go to the others.
function tabList(label, items, chosen, panel, pick) {
  const at = items.findIndex(([name]) => name === chosen);
  const keydown = (event) => {
    const last = items.length - 1, step = TAB_STEPS[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? last : step ? (at + step + items.length) % items.length : -1;
    if (to < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    pick(items[to][0]);
  };
  return h("div", { class: "tabs", role: "tablist", "aria-label": label, keydown }, items.map(([name, text, address], n) => {
    const common = { role: "tab", id: `${panel}-tab-${name}`, "aria-selected": String(n === at), "aria-controls": n === at ? panel : null, tabindex: n === at ? "0" : "-1" };
    return address ? h("a", { ...common, href: address, keydown: (event) => { if (event.key === " ") { event.preventDefault(); pick(name); } } }, text)
      : h("button", { ...common, type: "button", "data-sheet": name, click: () => pick(name) }, text);
  }));
}

function pathFrom(host, element) {
  const path = [];
  for (let one = element; one !== host; one = one.parentElement) path.unshift([...one.parentElement.children].indexOf(one));
  return path;
}

// Remembers the focus, scrolled boxes and unfolded parts of a host; the function that it returns gives them back.
function heldIn(host) {
  const focused = document.activeElement, isIn = focused && focused !== host && host.contains(focused);
  const list = isIn && focused.closest("[role=tablist]"), label = list && list.getAttribute("aria-label"), path = isIn ? pathFrom(host, focused) : [];
  const typed = isIn && focused.matches("input[type=search]") ? [focused.selectionStart, focused.selectionEnd] : null;
  const boxes = [...host.querySelectorAll(".keeps")].map((box) => [box.scrollLeft, box.scrollTop]), unfolded = [...host.querySelectorAll("details")].map((one) => one.open);
  return () => {
    host.querySelectorAll("details").forEach((one, n) => { if (unfolded[n] !== undefined) one.open = unfolded[n]; });
    host.querySelectorAll(".keeps").forEach((box, n) => { if (boxes[n]) [box.scrollLeft, box.scrollTop] = boxes[n]; });
    if (!isIn || (host.contains(document.activeElement) && document.activeElement !== host)) return;
    const again = label ? host.querySelector(`[role=tablist][aria-label="${CSS.escape(label)}"] [aria-selected=true]`) : path.reduce((one, n) => one && one.children[n], host);
    if (!again || (!label && again.tagName !== focused.tagName)) return;
    again.focus({ preventScroll: true });
    if (typed) again.setSelectionRange(...typed);
  };
}
