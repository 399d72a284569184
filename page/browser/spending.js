// The cost of a run: by role and model, over time, and call by call with prompt and reply.

function bills(calls) {
  const groups = new Map();
  for (const call of calls) {
    if (call.state !== "done") continue;
    const key = `${call.role}\n${call.model}`, held = groups.get(key) || { role: call.role, model: call.model, calls: 0, prompt: 0, completion: 0, usd: 0 };
    held.calls++;
    held.prompt += call.prompt_tokens;
    held.completion += call.completion_tokens;
    held.usd += call.usd;
    groups.set(key, held);
  }
  return [...groups.values()].sort((a, b) => b.usd - a.usd);
}

function spending(view) {
  const { book } = view, rows = bills(book.calls), sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  if (!book.calls.length) return h("div", {}, h("h2", {}, "Cost"), h("p", { class: "nothing" }, "This run asked no model: it cost nothing."));
  const all = { role: "all", model: "", calls: sum("calls"), prompt: sum("prompt"), completion: sum("completion"), usd: sum("usd") };
  const open = book.calls.filter((call) => call.state !== "done");
  return h("div", {}, h("h2", {}, "Cost by role"), table([
    ["role", (row) => row.role], ["model", (row) => row.model, "mono"], ["calls", (row) => inCount(row.calls), "n"], ["prompt tokens", (row) => inCount(row.prompt), "n"], ["completion tokens", (row) => inCount(row.completion), "n"],
    ["USD", (row) => inUsd(row.usd), "n"], ["share", (row) => [meter(all.usd ? row.usd / all.usd : 0), inShare(all.usd ? row.usd / all.usd : 0)], "n"],
  ], [...rows, all], { kind: (row) => (row === all ? "sum" : "") }), open.length ? h("p", { class: "note" }, `${counted(open.length, "call")} in flight`) : null, costCurve(view), callList(view));
}

function costCurve(view) {
  const { book } = view, timed = book.calls.filter((call) => call.at && call.state === "done").sort((a, b) => (a.at < b.at ? -1 : 1));
  if (timed.length < 2) return null;
  let usd = 0;
  const points = timed.map((call) => ({ x: between(book.head.created_at || timed[0].at, call.at) / 60, y: (usd += call.usd) }));
  return h("section", {}, h("h2", {}, "Cost over time"), plot({ height: 220, label: "cost over time", dots: [], stairs: [{ points, state: "best" }], tip: () => [], x: { label: "minutes since the run began", format: inCount, low: 0 }, y: { label: "USD", format: inUsd, low: 0 } }));
}

function callList(view) {
  const { book, ui } = view, roles = [["", "all roles"], ...[...new Set(book.calls.map((call) => call.role))].map((role) => [role, role])];
  const shown = book.calls.filter((call) => !ui.role || call.role === ui.role).reverse(), pane = h("div", { class: "talk" });
  const open = (call) => { pane.replaceChildren(callDetails(view, call)); pane.firstChild.open = true; pane.scrollIntoView({ block: "nearest" }); };
  const list = new VirtualList({ height: 24, label: "calls", pick: open, render: (call, n) => h("div", { class: "row call-row", role: "option", id: `call-${call.number}`, "aria-selected": String(n === list.cursor), "data-call": call.number, click: () => open(call) },
    h("span", {}, call.role), h("span", { class: "mono" }, call.experiment || (call.generation === null ? "" : `generation ${call.generation}`)), h("span", { class: "mono" }, call.model), h("span", { class: "n" }, inCount(call.prompt_tokens)), h("span", { class: "n" }, inCount(call.completion_tokens)), h("span", { class: "n" }, call.state === "done" ? inUsd(call.usd) : "in flight"), h("span", { class: "n" }, atClock(call.at))) });
  list.element.style.height = `${Math.min(360, shown.length * 24 + 2)}px`;
  list.set(shown);
  return h("section", {}, h("div", { class: "bar-of" }, h("h2", {}, "Calls, newest first"), menu("role", roles, ui.role || "", (value) => { ui.role = value; view.again(); })), list.element, pane);
}
