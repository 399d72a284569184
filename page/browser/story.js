// The head of a run: the gain over what it began with, the change that made it, and what is left below the roofline.

const OVER = { given: "your kernel", generated: "the best generated kernel", seed: "the best seed" };

const overOf = (line) => OVER[line.over] || "the first kernel";

const bestOf = (book) => book.lines.find((line) => line.id === book.head.best_id);

// The number that heads the page, and what it is of.
function heading(head, words) {
  const yet = head.status === "running" ? " yet" : "", line = head.headline, over = line.over === "seed" ? ["the best ", words.word("seed")] : overOf(line);
  if (!line.best_id) return [DASH, head.candidates ? ["no kernel is ", words.word("verified"), yet] : `no kernel was judged${yet}`];
  const [first] = line.incumbents.filter((one) => one.speed !== null);
  if (first) return [inTimes(first.speed), ["the speed of ", first.name, first.verdict === "faster" || first.verdict === "slower" ? "" : ": equal within the error"]];
  if (line.gain === null) return [inUs(line.best_us), [words.word(line.time_kind), ": no first kernel has such a time to compare with"]];
  if (line.over_id === line.best_id) return ["1.00×", ["nothing is faster than ", over, yet]];
  return [inTimes(line.gain), line.is_tie ? ["the speed of ", over, ": equal within the clock's error"] : ["the speed of ", over]];
}

// What the user brought, where the gain could not be told over it.
const refusedKernel = (book) => (book.head.headline.over === "given" ? null : book.lines.find((one) => !one.generation && ["given", "file"].includes(one.picked_as) && one.status !== "accepted"));

function headline(view, words) {
  const { book } = view, { head } = book, line = head.headline, [number, of] = heading(head, words), refused = refusedKernel(book);
  const times = !line.best_id ? null : h("p", { class: "times" }, line.gain === null || line.over_id === line.best_id ? null : [h("b", {}, inUs(line.over_us)), " → "], h("b", {}, inUs(line.best_us)), " ", words.word(line.time_kind),
    line.time_kind === "predicted" ? ", none measured" : "", book.shapes.length > 1 ? [", ", words.word("mean"), ` of ${counted(book.shapes.length, "case")}`] : "");
  return h("section", { class: "headline", "aria-label": "result" }, h("h2", {}, h("span", { class: "number" }, number), " ", h("span", {}, of)),
    h("div", { class: "facts" }, times, refused ? h("p", { class: "loss" }, `Your kernel was not accepted: ${refused.reason || refused.status}. `, link(view, refused.id)) : null, factsOf(line, words),
      h("p", { class: "note" }, standing(head)), line.advice ? h("p", { class: "advice" }, h("b", {}, "Next"), ` ${line.advice}.`) : null, nowOf(view)));
}

function factsOf(line, words) {
  const bounds = line.bounds.map((name, n) => [n ? ", " : "", words.word(name)]);
  return [line.change && line.over_id !== line.best_id ? h("p", { class: "changed" }, h("b", {}, "Changed"), ` ${line.change}`) : null,
    line.roofline || bounds.length ? h("p", {}, line.roofline ? [meter(line.roofline), h("b", {}, inShare(line.roofline)), " of the ", words.word("roofline")] : null, bounds.length ? [line.roofline ? ", bound by " : "bound by ", bounds] : null) : null];
}

const gainOfChange = (change) => (change.before_us && change.after_us ? change.before_us / change.after_us : 1);

const titleOfChange = (change) => change.change || firstLine(change.title) || change.id;

async function changeSection(view, words) {
  const { book, ui } = view, line = book.head.headline, { changes } = book;
  if (!line.best_id) return null;
  if (!changes.length) return h("section", { class: "change" }, h("h2", {}, "The change"), h("p", {}, book.lines.some((one) => one.generation) ? `No candidate is faster than ${overOf(line)} yet.` : "Nothing was changed yet."));
  const chosen = changes.find((one) => one.id === ui.change), [from, to] = chosen ? [chosen.parent, chosen.id] : [line.over_id, line.best_id];
  const options = [["", `all ${changes.length} changes`], ...changes.map((one) => [one.id, `${one.id} ${titleOfChange(one)}`.slice(0, 60)])];
  return h("section", { class: "change" }, h("div", { class: "bar-of" }, h("h2", {}, changes.length > 1 ? "The changes that won" : "The change that won"),
    changes.length > 1 ? menu("show", options, chosen ? chosen.id : "", (value) => { ui.change = value; view.again(); }) : null),
  reasonsOf(view, chosen ? [chosen] : changes, words),
  h("h3", {}, "Difference from ", chosen ? chosen.parent : overOf(line)), await differenceBetween(view, from, to));
}

// The change with the largest gain, and the others below it, in their order.
function reasonsOf(view, changes, words) {
  const most = changes.reduce((a, b) => (gainOfChange(b) > gainOfChange(a) ? b : a)), others = changes.filter((one) => one !== most), list = (some) => h("ol", { class: "reasons" }, some.map((one) => reasonOf(view, one, words)));
  return [list([most]), others.length ? h("details", {}, h("summary", {}, `${counted(others.length, "change")} before or after it, in their order`), list(others)) : null];
}

function reasonOf(view, change, words) {
  const gain = gainOfChange(change), first = (text) => text.split(/\.\s+(?=[A-Z])/, 1)[0].replace(/\.?$/, ".");
  const why = (label, bound, text) => (bound ? [h("dt", {}, label), h("dd", {}, h("b", {}, words.word(bound)), text ? h("span", { class: "note" }, ` ${first(text)}`) : null)] : null);
  return h("li", {}, h("p", {}, h("b", {}, titleOfChange(change)), " ", h("b", { class: gain >= 1 ? "gain" : "loss" }, inTimes(gain)), " ", link(view, change.id)),
    h("dl", { class: "pairs" }, change.reason ? [h("dt", {}, "idea"), h("dd", { class: "lines" }, change.change ? `${firstLine(change.title)}: ${change.reason}` : change.reason)] : null,
      change.steps.length && !change.change ? [h("dt", {}, "done"), h("dd", {}, change.steps.join("; "))] : null,
      why("bound before", change.bound_before, change.why_before), why("bound after", change.bound_after, change.why_after)));
}

async function differenceBetween(view, from, to) {
  const { book, ui } = view;
  try {
    const [before, after] = await Promise.all([from, to].map((id) => data.source(book, id)));
    const listing = differenceListing(before, after), box = listing.querySelector(".code");
    if (!box || box.querySelectorAll("tr").length <= 26) return listing;
    box.classList.add("keeps");
    box.classList.toggle("tall", Boolean(ui.isWhole));
    const button = h("button", { type: "button", "aria-expanded": String(Boolean(ui.isWhole)), click: () => { ui.isWhole = !ui.isWhole; view.again(); } }, ui.isWhole ? "show less" : "show all of it");
    listing.append(button);
    return listing;
  } catch (error) {
    return h("p", { class: "loss" }, error.message);
  }
}

function gapSection(view, words) {
  const { book } = view, best = bestOf(book);
  if (!best || !book.roofline_us || !best.roofline) return null;
  const gap = book.head.best_us - book.roofline_us, drawing = rooflineOf(view, slowestCase(book), 300, undefined, true);
  return h("section", { class: "roof-gap" }, h("div", { class: "bar-of" }, h("h2", {}, "The roofline"), h("a", { href: view.address("roofline") }, "every case")),
    h("p", {}, h("b", {}, inShare(best.roofline)), " of the ", words.word("roofline"), " is reached: ", inUs(book.head.best_us), ` ${book.head.kind}, where `, inUs(book.roofline_us), " is the least; ", h("b", {}, inUs(Math.max(0, gap))), " remain."),
    drawing, causesOf(book, words));
}

// Where the time of the best candidate goes: one bar, and the parts in words.
function causesOf(book, words) {
  const parts = new Map(), total = book.shapes.reduce((sum, { measurement: m }) => sum + m.weight * m.time_us, 0);
  for (const { measurement: m } of book.shapes) for (const [cause, us] of Object.entries(m.stalls_us)) parts.set(cause, (parts.get(cause) || 0) + (m.weight * us) / total);
  const ranked = [...parts].filter(([, share]) => share >= 0.03).sort((a, b) => b[1] - a[1]).slice(0, 5);
  if (!ranked.length) return null;
  let left = 0;
  const boxes = ranked.map(([, share], n) => { const x = left; left += share * 1000; return s("rect", { class: `part part-${n}`, x, width: Math.max(0, share * 1000 - 2), height: 14 }); });
  return h("div", { class: "causes" }, h("h3", {}, "Where its time goes"),
    s("svg", { class: "parts", viewBox: "0 0 1000 14", preserveAspectRatio: "none", "aria-hidden": "true" }, s("rect", { class: "track", width: 1000, height: 14 }), boxes),
    h("ul", { class: "key" }, ranked.map(([cause, share], n) => h("li", {}, h("span", { class: `swatch part-${n}` }), h("b", {}, inShare(share)), " ", words.word(cause)))));
}
