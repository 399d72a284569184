// Sources, differences and machine code, line by line.

const WORDS = new Set(("alignas auto bool break case char class const constexpr continue default do double else enum extern false float for half if inline int long namespace operator return short signed sizeof static struct switch template true typedef typename union unsigned using void volatile while __global__ __device__ __shared__ __restrict__ __launch_bounds__ __attribute__ uint32_t uint16_t uint8_t int32_t size_t float4 float2 int4").split(" "));
const TOKEN = /(\/\/.*$|\/\*.*?\*\/|"(?:[^"\\]|\\.)*"|^\s*#\s*\w+)|\b(\d[\w.']*)|([A-Za-z_]\w*)/g;

function highlighted(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    const kind = found[1] ? (found[1].trimStart().startsWith("#") ? "pre" : found[1].startsWith('"') ? "str" : "com") : found[2] ? "num" : WORDS.has(found[3]) ? "key" : found[3].startsWith("__builtin") ? "fun" : "";
    if (!kind) continue;
    parts.push(text.slice(end, found.index), h("span", { class: `t-${kind}` }, found[0]));
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

function findingNote(finding) {
  const where = [finding.kernel && `kernel ${finding.kernel}`, finding.case && `case ${finding.case}`, finding.buffer && `buffer ${finding.buffer}`].filter(Boolean).join(" · ");
  return h("div", { class: "finding" }, h("span", { class: "tag rejected" }, finding.kind.replaceAll("_", " ")), " ", finding.message, where ? h("span", { class: "note" }, ` ${where}`) : null);
}

const COUNTERS = ["l1_clocks", "l2_requests", "vmem_instructions", "wasted_bytes", "lds_port_clocks", "bank_clocks", "instructions"];

function countersOf(sheet) {
  const names = new Set(sheet.hot_lines.flatMap((hot) => Object.keys(hot.shares)));
  return [...COUNTERS.filter((name) => names.has(name)), ...[...names].filter((name) => !COUNTERS.includes(name)).sort()];
}

// The source with findings beside their lines, and one counter by line.
function sourceListing(sheet, counter) {
  const hot = new Map();
  for (const one of sheet.hot_lines) if (counter in one.shares) hot.set(one.line, [...(hot.get(one.line) || []), one]);
  const found = new Map();
  for (const one of sheet.findings) if (one.line !== null) found.set(one.line, [...(found.get(one.line) || []), one]);
  const body = [];
  linesOf(sheet.source).forEach((text, n) => {
    const number = n + 1, costs = hot.get(number) || [], faults = found.get(number) || [];
    const share = Math.max(0, ...costs.map((one) => one.shares[counter]));
    const told = costs.map((one) => `${one.kernel}: ${Object.entries(one.counters).map(([name, value]) => `${name.replaceAll("_", " ")} ${compact(value)} (${inShare(one.shares[name])})`).join(", ")}`).join("\n");
    body.push(h("tr", { class: faults.length ? "fault" : share > 0 ? "hot" : "", id: `L${number}` },
      h("td", { class: "no" }, String(number)),
      h("td", { class: "cost", title: told || null }, share > 0 ? [bar(share), inShare(share)] : ""),
      h("td", { class: "text" }, highlighted(text))));
    for (const one of faults) body.push(h("tr", { class: "beside" }, h("td", { class: "no" }), h("td", {}), h("td", {}, findingNote(one))));
  });
  return h("div", { class: "code", tabindex: "0" }, h("table", {}, h("tbody", {}, body)));
}

function bar(share) {
  return s("svg", { class: "bar", width: 36, height: 8, "aria-hidden": "true" }, s("rect", { width: Math.max(1, 36 * Math.min(1, share)), height: 8, rx: 1 }));
}

function differenceListing(before, after) {
  const rows = difference(before, after), sum = (sign) => rows.filter((row) => row.sign === sign).length;
  const kinds = { "+": "add", "-": "del", gap: "gap", " ": "" };
  const body = shortened(rows).map((row) => row.sign === "gap"
    ? h("tr", { class: "gap" }, h("td", { colspan: "4" }, row.text))
    : h("tr", { class: kinds[row.sign] },
      h("td", { class: "no" }, row.before === null ? "" : String(row.before)),
      h("td", { class: "no" }, row.after === null ? "" : String(row.after)),
      h("td", { class: "sign" }, row.sign === "-" ? "−" : row.sign),
      h("td", { class: "text" }, highlighted(row.text))));
  const same = !sum("+") && !sum("-");
  return h("div", {}, h("p", { class: "note" }, same ? "The two texts are the same." : h("span", {}, h("b", { class: "gain" }, `+${sum("+")}`), " ", h("b", { class: "loss" }, `−${sum("-")}`), " lines")),
    same ? null : h("div", { class: "code", tabindex: "0" }, h("table", {}, h("tbody", {}, body))));
}

const GROUPS = { mfma: "g-mfma", vmem: "g-vmem", lds: "g-lds", smem: "g-vmem", scratch: "g-bad", waitcnt: "g-wait", barrier: "g-wait", branch: "g-branch" };

// Instructions under their source lines; a heading wherever the line changes.
function machineListing(rows, source) {
  const lines = linesOf(source), items = [];
  let line = -1;
  for (const row of rows) {
    if (row.line !== line) items.push({ line: row.line, text: (lines[row.line - 1] || "").trim() || "(no source line)", isHead: true });
    line = row.line;
    if (row.label) items.push({ mark: row.label });
    items.push(row);
  }
  const list = new VirtualList({
    height: 19, role: "list", label: "machine code",
    render: (item) => {
      if (item.isHead) return h("div", { class: "machine head", role: "listitem" }, h("span", { class: "no" }, item.line ? String(item.line) : ""), h("span", {}, highlighted(item.text)));
      if (item.mark) return h("div", { class: "machine", role: "listitem" }, h("span", { class: "no" }), h("span", { class: "asm-label" }, `${item.mark}:`));
      const [mnemonic, ...operands] = item.text.split(" ");
      return h("div", { class: "machine", role: "listitem" }, h("span", { class: "no" }, "│".repeat(Math.min(4, item.depth))),
        h("span", { class: `mnemonic ${GROUPS[item.group] || ""}` }, mnemonic), h("span", {}, operands.join(" ")));
    },
  });
  list.set(items);
  return list.element;
}

function mixOf(rows) {
  const counts = new Map();
  for (const row of rows) {
    const held = counts.get(row.group) || { group: row.group, all: 0, inLoops: 0 };
    held.all++;
    if (row.depth) held.inLoops++;
    counts.set(row.group, held);
  }
  return [...counts.values()].sort((a, b) => b.all - a.all);
}

// A stored conversation, or any other text.
function conversation(text) {
  let messages = null;
  try { messages = JSON.parse(text); } catch { messages = null; }
  if (Array.isArray(messages) && messages.length && messages.every((one) => one && typeof one === "object")) {
    return messages.map((one) => h("div", { class: "message" }, h("div", { class: "role" }, String(one.role || one.type || "message")),
      h("pre", { class: "said" }, typeof one.content === "string" ? one.content : JSON.stringify(one.content ?? one, null, 2))));
  }
  if (messages && typeof messages === "object" && typeof messages.text === "string") {
    const rest = Object.fromEntries(Object.entries(messages).filter(([name, value]) => name !== "text" && value !== null && value !== "" && !(Array.isArray(value) && !value.length)));
    return [h("pre", { class: "said" }, messages.text), Object.keys(rest).length ? h("details", {}, h("summary", {}, "the rest of the reply"), h("pre", { class: "said" }, JSON.stringify(rest, null, 2))) : null];
  }
  return [h("pre", { class: "said" }, text)];
}
