// Every candidate: the lineage as a tree beside the sheet of the one that is chosen.

const FILTERS = [["", "all"], ["accepted", "verified"], ["records", "led in their turn"], ["rejected", "rejected"], ["descent", "ancestors of the best"]];
const ORDERS = [["lineage", "lineage"], ["time", "fastest first"], ["recorded", "newest first"], ["surprise", "furthest from the prediction"]];

function wanted(line, book, ui, descent) {
  const words = (ui.search || "").toLowerCase();
  if (words && !`${line.id} ${line.title} ${line.strategy} ${line.reason} ${line.code} ${line.findings.join(" ")}`.toLowerCase().includes(words)) return false;
  if (ui.filter === "accepted") return line.status === "accepted";
  if (ui.filter === "records") return line.is_record;
  if (ui.filter === "rejected") return line.status !== "accepted" && line.status !== "tried";
  return ui.filter === "descent" ? descent.has(line.id) : true;
}

const surprise = (line) => (line.gain_pct === null || !line.generation ? -1 : Math.max(0, line.hoped_min_pct - line.gain_pct, line.gain_pct - line.hoped_max_pct));

function orderedRows(book, ui, descent) {
  const isAll = !ui.filter && !ui.search, order = ui.order || "lineage";
  if (isAll && order === "lineage") return lineage(book.lines);
  const flat = (order === "lineage" ? lineage(book.lines).map((row) => row.line) : [...book.lines]).filter((line) => wanted(line, book, ui, descent));
  if (order === "time") flat.sort((a, b) => (a.time_us ?? Infinity) - (b.time_us ?? Infinity) || 0);
  if (order === "recorded") flat.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  if (order === "surprise") flat.sort((a, b) => surprise(b) - surprise(a));
  return flat.map((line) => ({ line, depth: 0, guides: [], isLast: true }));
}

class Candidates {
  constructor(view) {
    this.view = view;
    this.list = new VirtualList({ height: ROW, label: "candidates", role: "listbox", render: (row) => this.row(row) });
    this.list.element.classList.add("lineage");
    this.pane = h("div", { class: "pane", tabindex: "-1" });
    this.count = h("span", { class: "note" });
    this.search = h("input", { type: "search", placeholder: "filter: id, idea, reason, strategy", "aria-label": "filter", input: () => { this.view.ui.search = this.search.value; this.refresh(); } });
    this.search.value = view.ui.search || "";
    this.element = h("div", { class: "candidates" }, h("div", { class: "index" },
      h("div", { class: "bar-of" }, this.search, menu("show", FILTERS, view.ui.filter || "", (value) => { view.ui.filter = value; this.refresh(); }),
        menu("by", ORDERS, view.ui.order || "lineage", (value) => { view.ui.order = value; this.refresh(); }), this.count),
      h("div", { class: "row head", "aria-hidden": "true" }, h("span", { class: "name" }, "candidate"), h("span", { class: "n" }, "hoped"), h("span", { class: "n" }, "found"), h("span", { class: "n" }, "time"), h("span", { class: "n seed" }, "× seed")),
      this.list.element), this.pane);
    this.refresh();
  }

  refresh() {
    const { book, ui } = this.view;
    this.descent = descentOf(book);
    this.rows = orderedRows(book, ui, this.descent);
    const deepest = Math.max(1, ...this.rows.map((row) => row.depth));
    this.indent = Math.max(2, Math.min(14, 130 / deepest));
    this.count.textContent = this.rows.length === book.lines.length ? counted(book.lines.length, "candidate") : `${inCount(this.rows.length)} of ${inCount(book.lines.length)}`;
    this.list.set(this.rows);
  }

  row({ line, depth, guides, isLast }) {
    const { book } = this.view, state = stateOf(line, book), isChosen = line.id === this.chosen;
    return h("div", { class: `row ${state}`, role: "option", id: `row-${line.id}`, "aria-selected": String(isChosen), "data-id": line.id, click: () => this.view.open(line.id), title: line.reason || null },
      h("span", { class: "name" }, branch({ line, depth, guides, isLast }, this.indent, this.descent, state), h("span", { class: "mono id" }, line.number ? line.id : line.id.replace(/-a0$/, "")), " ", h("span", { class: "idea" }, firstLine(line.title))),
      h("span", { class: "n" }, line.generation ? hopeOf(line) : ""),
      h("span", { class: `n ${line.gain_pct === null || !line.generation ? "" : line.gain_pct > 0 ? "gain" : "loss"}` }, line.gain_pct === null || !line.generation ? (line.status === "accepted" ? "" : line.code === "OK" ? line.status : `${line.status} ${line.code}`) : signed(line.gain_pct)),
      h("span", { class: "n time" }, line.time_us === null ? "" : inUs(line.time_us)),
      h("span", { class: "n seed" }, line.over_seed === null ? "" : inTimes(line.over_seed)));
  }

  async choose(id) {
    this.chosen = id;
    const index = this.rows.findIndex((row) => row.line.id === id);
    if (index >= 0) this.list.show(index);
    else this.list.draw(true);
    if (index >= 0) this.list.element.setAttribute("aria-activedescendant", `row-${id}`);
    else this.list.element.removeAttribute("aria-activedescendant");
    this.element.classList.toggle("has-one", Boolean(id));
    await this.sheetAgain();
  }

  async sheetAgain() {
    const id = this.chosen, line = this.view.book.lines.find((one) => one.id === id);
    if (!line) return this.pane.replaceChildren(h("p", { class: "nothing" }, id ? `This run has no candidate ${id}.` : "Choose a candidate: j and k go through the list."));
    try {
      const content = await candidateSheet(this.view, line), giveBack = heldIn(this.pane);
      if (this.chosen !== id) return;
      this.pane.replaceChildren(...content);
      giveBack();
    } catch (error) {
      if (this.chosen === id) this.pane.replaceChildren(sheetHead(this.view, line), h("p", { class: "loss" }, error.message));
    }
  }

  step(by) {
    const index = this.rows.findIndex((row) => row.line.id === this.chosen);
    const next = this.rows[Math.max(0, Math.min(this.rows.length - 1, index < 0 ? 0 : index + by))];
    if (next) this.view.open(next.line.id, true);
  }
}
