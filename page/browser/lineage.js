// The family tree of the candidates as rows of a list, and a list that draws only the rows in sight.

const stateOf = (line, book) =>
  line.id === book.head.best_id ? "best" : line.status === "accepted" ? (line.is_record ? "record" : "accepted") : line.status === "tried" ? "tried" : "rejected";

// Rows {line, depth, guides: depths whose line goes on below, isLast}; parents before children, no recursion.
function lineage(lines) {
  const known = new Set(lines.map((line) => line.id)), children = new Map();
  for (const line of lines) {
    const parent = known.has(line.parent) && line.parent !== line.id ? line.parent : "";
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(line);
  }
  const rows = [], seen = new Set();
  const grow = (start) => {
    const stack = start.map((line, n) => ({ line, depth: 0, guides: [], isLast: n === start.length - 1 })).reverse();
    while (stack.length) {
      const row = stack.pop();
      if (seen.has(row.line.id)) continue;
      seen.add(row.line.id);
      rows.push(row);
      const below = children.get(row.line.id) || [];
      const guides = row.isLast || row.depth === 0 ? row.guides : [...row.guides, row.depth];
      for (let n = below.length - 1; n >= 0; n--) stack.push({ line: below[n], depth: row.depth + 1, guides, isLast: n === below.length - 1 });
    }
  };
  grow(children.get("") || []);
  for (const line of lines) if (!seen.has(line.id)) grow([line]); // a circle cannot come from our writer
  return rows;
}

function descentOf(book) {
  const byId = new Map(book.lines.map((line) => [line.id, line])), found = new Set();
  for (let line = byId.get(book.head.best_id); line && !found.has(line.id); line = byId.get(line.parent)) found.add(line.id);
  return found;
}

const ROW = 26;

function branch(row, step, descent, state) {
  const x = (depth) => 9 + depth * step, mid = ROW / 2, isOnBest = descent.has(row.line.id);
  const group = s("svg", { class: "branch", width: x(row.depth) + 10, height: ROW, "aria-hidden": "true" });
  for (const depth of row.guides) group.append(s("path", { class: "edge", d: `M${x(depth - 1)} 0V${ROW}` }));
  if (row.depth) {
    const from = x(row.depth - 1);
    if (!row.isLast) group.append(s("path", { class: "edge", d: `M${from} 0V${ROW}` }));
    group.append(s("path", { class: `edge ${isOnBest ? "descent" : ""}`, d: `M${from} 0V${mid}H${x(row.depth) - 4}` }));
  }
  group.append(state === "rejected"
    ? s("path", { class: "cross", d: `M${x(row.depth) - 3} ${mid - 3}l6 6m0 -6l-6 6` })
    : s("circle", { class: `node ${state}`, cx: x(row.depth), cy: mid, r: state === "best" ? 5 : 3.6 }));
  return group;
}

const ROW_STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

// A list of rows of one height; only those in sight are elements. With `pick` the arrows move a cursor and Enter opens.
class VirtualList {
  constructor({ height, render, label, role = "listbox", pick = null }) {
    Object.assign(this, { height, render, pick, items: [], first: -1, last: -1, cursor: -1 });
    this.inner = h("div", { class: "rows", role: "presentation" });
    this.element = h("div", { class: "virtual", tabindex: "0", role, "aria-label": label, scroll: () => this.later(), keydown: pick && ((event) => this.key(event)) }, this.inner);
    new ResizeObserver(() => this.draw(true)).observe(this.element);
  }

  set(items) {
    this.items = items;
    this.inner.style.height = `${items.length * this.height}px`;
    this.draw(true);
  }

  key(event) {
    const step = ROW_STEPS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (!step && (event.key !== "Enter" || this.cursor < 0))) return;
    event.preventDefault();
    event.stopPropagation();
    if (!step) return this.pick(this.items[this.cursor]);
    this.cursor = Math.max(0, Math.min(this.items.length - 1, this.cursor + step));
    this.show(this.cursor);
    this.element.setAttribute("aria-activedescendant", this.inner.querySelector("[aria-selected=true]")?.id ?? "");
  }

  later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(false); });
  }

  draw(isWhole) {
    const top = this.element.scrollTop, sight = this.element.clientHeight || 600;
    const first = Math.max(0, Math.floor(top / this.height) - 8), last = Math.min(this.items.length, Math.ceil((top + sight) / this.height) + 8);
    if (!isWhole && first === this.first && last === this.last) return;
    Object.assign(this, { first, last });
    const rows = [];
    for (let n = first; n < last; n++) {
      const row = this.render(this.items[n], n);
      row.style.top = `${n * this.height}px`;
      rows.push(row);
    }
    this.inner.replaceChildren(...rows);
  }

  show(index) {
    const top = index * this.height, sight = this.element.clientHeight, at = this.element.scrollTop, far = top < at - 2 * this.height || top > at + sight + this.height;
    if (far) this.element.scrollTop = top - sight / 2;
    else if (top < at) this.element.scrollTop = top;
    else if (top + this.height > at + sight) this.element.scrollTop = top + this.height - sight;
    this.draw(true);
  }
}
