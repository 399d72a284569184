// Elements and figures. Text reaches the page as text nodes only: nothing here parses HTML, and the policy forbids it.

function build(make, tag, attributes, children) {
  const element = make(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const h = (tag, attributes, ...children) => build((t) => document.createElement(t), tag, attributes, children);
const s = (tag, attributes, ...children) =>
  build((t) => document.createElementNS("http://www.w3.org/2000/svg", t), tag, attributes, children);

const DASH = "–";

function digits(value, count) {
  if (value === 0) return "0";
  const places = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 6));
}

function inUs(time) {
  if (time === null || time === undefined) return DASH;
  if (time >= 1e6) return `${digits(time / 1e6, 3)} s`;
  if (time >= 1e3) return `${digits(time / 1e3, 3)} ms`;
  return `${digits(time, 3)} µs`;
}

function inTimes(value) {
  return value === null || value === undefined ? DASH : `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)}×`;
}

function signed(value, places = 1) {
  if (value === null || value === undefined) return DASH;
  const text = Math.abs(value).toFixed(Math.abs(value) >= 100 ? 0 : places);
  return `${value < 0 && Number(text) !== 0 ? "−" : "+"}${text} %`;
}

function inUsd(value) {
  return value === null || value === undefined ? DASH : value === 0 || value >= 0.1 ? `$${value.toFixed(2)}` : `$${value.toFixed(4)}`;
}

function inShare(value) {
  return value === null || value === undefined ? DASH : `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`;
}

function inCount(value) {
  if (value === null || value === undefined) return DASH;
  const text = Number.isInteger(value) || Math.abs(value) >= 100 ? value.toFixed(0) : digits(value, 3);
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
}

const shortest = (text) => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

function compact(value) {
  const steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, unit] of steps) if (Math.abs(value) >= size) return `${shortest(digits(value / size, 3))}${unit}`;
  return Number.isInteger(value) ? String(value) : shortest(digits(value, 3));
}

function inSeconds(seconds) {
  if (!Number.isFinite(seconds)) return DASH;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

const between = (from, to) => (Date.parse(to) - Date.parse(from)) / 1000;

const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };

function atClock(at) {
  const date = new Date(at);
  return at && !Number.isNaN(date.getTime()) ? date.toLocaleTimeString([], { ...CLOCK, second: "2-digit" }) : "";
}

function onDay(at) { // day and time where the reader is
  const date = new Date(at);
  if (!at || Number.isNaN(date.getTime())) return "";
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
  return `${day} ${date.toLocaleTimeString([], CLOCK)}`;
}

function counted(many, noun, plural) {
  return `${inCount(many)} ${many === 1 ? noun : plural || `${noun}s`}`;
}

function firstLine(text) {
  return text.split("\n", 1)[0];
}

function tag(status) {
  return h("span", { class: `tag ${String(status).replace(/\W/g, "")}` }, status);
}

function figure(label, value, note) {
  return h("div", {}, h("dt", {}, label), h("dd", {}, value, note ? h("small", {}, note) : null));
}

function meter(share) {
  if (share === null || share === undefined) return null;
  const width = Math.max(0, Math.min(1, share)) * 64;
  return s("svg", { class: "meter", width: 64, height: 6, "aria-hidden": "true" },
    s("rect", { class: "track", width: 64, height: 6, rx: 3 }), s("rect", { class: "fill", width, height: 6, rx: 3 }));
}

// Columns: [heading, cell of a row, class of the cells].
function table(columns, rows, options = {}) {
  const head = columns.map(([name, , kind]) => h("th", { class: kind, scope: "col" }, name));
  const body = rows.map((row, index) => {
    const cells = columns.map(([, cell, kind]) => h("td", { class: kind }, cell(row, index)));
    const open = options.open && (() => options.open(row));
    return h("tr", { class: options.kind && options.kind(row), click: open, "data-id": row.id }, cells);
  });
  if (!rows.length) body.push(h("tr", {}, h("td", { colspan: columns.length, class: "nothing" }, options.empty || "none")));
  return h("div", { class: "scroll" }, h("table", { class: options.open ? "opens" : "" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

function choice(label, values, chosen, pick) {
  const buttons = values.map(([value, text]) =>
    h("button", { type: "button", "aria-pressed": String(value === chosen), click: () => pick(value) }, text));
  return h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}

function menu(label, values, chosen, pick) {
  const options = values.map(([value, text]) => h("option", { value, selected: value === chosen }, text));
  return h("label", { class: "menu" }, h("span", {}, label), h("select", { change: (event) => pick(event.target.value) }, options));
}
