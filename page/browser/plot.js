// One drawing: axes, dots, stairs and lines. Thousands of dots are one path for each of their states.

const MARGIN = { left: 62, right: 18, top: 26, bottom: 40 };
const REACH = 28; // pixels from the pointer to the dot that it means

function ticksOf(low, high, isLog, most) {
  if (!isLog) {
    const rough = (high - low) / Math.max(1, most - 1) || 1, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((n) => n * power >= rough);
    const found = [];
    for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-6; value += step) found.push(Number(value.toPrecision(12)));
    return found;
  }
  const sets = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7], Array.from({ length: 90 }, (_, n) => 1 + n / 10)];
  let best = [];
  for (const set of sets) {
    const found = [];
    for (let decade = Math.floor(Math.log10(low)) - 1; decade <= Math.ceil(Math.log10(high)); decade++)
      for (const step of set) {
        const value = Number((step * 10 ** decade).toPrecision(6));
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
      }
    if (found.length > most && best.length >= 2) break;
    best = found;
    if (best.length >= Math.min(4, most)) break;
  }
  return best.length > most ? best.filter((_, n) => n % Math.ceil(best.length / most) === 0) : best;
}

class Axis {
  constructor({ values, isLog, low, high, from, to, pad = 0.04 }) {
    const kept = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
    let least = low ?? Math.min(...kept), greatest = high ?? Math.max(...kept);
    if (!kept.length) [least, greatest] = isLog ? [1, 10] : [0, 1];
    this.isLog = isLog;
    const turn = isLog ? Math.log10 : (value) => value;
    let [a, b] = [turn(least), turn(greatest)];
    if (b - a < 1e-9) { a -= isLog ? 0.02 : 0.5; b += isLog ? 0.02 : 0.5; }
    if (low === undefined) a -= (b - a) * pad;
    if (high === undefined) b += (b - a) * pad;
    Object.assign(this, { turn, a, b, from, to });
  }

  at(value) { return this.from + ((this.turn(value) - this.a) / (this.b - this.a)) * (this.to - this.from); }

  ticks(most) {
    const back = this.isLog ? (value) => 10 ** value : (value) => value;
    return ticksOf(back(this.a), back(this.b), this.isLog, most);
  }
}

// options: height, x and y {label, format, isLog, low, high}, dots [{x, y, state, item}], stairs and lines
// [{points, state, label}], floor (states drawn on the bottom edge), tip(item), pick(item), label.
function plot(options) {
  const tip = h("div", { class: "tip", hidden: true }), host = h("div", { class: "plot" });
  const draw = () => {
    const width = Math.max(260, host.clientWidth || 800), height = options.height || 300; // printed at another width, it is scaled
    host.replaceChildren(drawn(options, width, height, tip), tip);
  };
  new ResizeObserver(() => { if (host.clientWidth !== host.drawnAt) { host.drawnAt = host.clientWidth; draw(); } }).observe(host);
  return host;
}

function drawn(options, width, height, tip) {
  const right = width - MARGIN.right, bottom = height - MARGIN.bottom;
  const all = [...options.dots, ...[...(options.stairs || []), ...(options.lines || [])].flatMap((line) => (line.isGuide ? [] : line.points))];
  const x = new Axis({ ...options.x, values: all.map((p) => p.x), from: MARGIN.left, to: right, pad: options.x.pad ?? 0.02 });
  const y = new Axis({ ...options.y, values: all.map((p) => p.y), from: bottom, to: MARGIN.top });
  const place = (p) => ({ px: x.at(p.x), py: p.y === null ? bottom - 5 : y.at(p.y), point: p });
  const dots = options.dots.map(place).filter((d) => Number.isFinite(d.px) && Number.isFinite(d.py));
  const clip = `clip-${Math.random().toString(36).slice(2)}`;
  const root = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": options.label },
    s("clipPath", { id: clip }, s("rect", { x: MARGIN.left, y: MARGIN.top - 8, width: right - MARGIN.left, height: bottom - MARGIN.top + 8 })),
    grid(x, y, options, width, right, bottom));
  const inner = s("g", { "clip-path": `url(#${clip})` });
  for (const line of options.lines || []) inner.append(s("path", { class: `line ${line.state || ""}`, d: pathOf(line.points.map(place)) }));
  for (const line of options.stairs || []) inner.append(s("path", { class: `line ${line.state || ""}`, d: stairsOf(line.points.map(place), right) }));
  root.append(inner, ...dotsOf(dots));
  const taken = []; // places of the labels so far
  for (const line of [...(options.lines || []), ...(options.stairs || [])]) if (line.label) root.append(labelOf(line, place, right, taken));
  root.append(pointer(dots, options, tip, width));
  return root;
}

function grid(x, y, options, width, right, bottom) {
  const group = s("g", {});
  for (const value of y.ticks(6)) {
    const at = y.at(value);
    group.append(s("line", { class: "grid", x1: MARGIN.left, x2: right, y1: at, y2: at }),
      s("text", { class: "label", x: MARGIN.left - 8, y: at + 4, "text-anchor": "end" }, options.y.format(value)));
  }
  for (const value of x.ticks(Math.max(3, Math.floor(width / 110)))) {
    const at = x.at(value);
    group.append(s("line", { class: "tickmark", x1: at, x2: at, y1: bottom, y2: bottom + 4 }),
      s("text", { class: "label", x: at, y: bottom + 17, "text-anchor": "middle" }, options.x.format(value)));
  }
  group.append(s("line", { class: "axis", x1: MARGIN.left, x2: right, y1: bottom, y2: bottom }),
    s("text", { class: "label", x: right, y: bottom + 34, "text-anchor": "end" }, options.x.label),
    s("text", { class: "label", x: 2, y: 10 }, options.y.label));
  return group;
}

const spot = (d) => `M${d.px.toFixed(1)} ${d.py.toFixed(1)}h0`;
const ORDER = ["rejected", "other", "tried", "accepted", "second", "record", "best", "chosen"];

function dotsOf(dots) {
  const states = new Map();
  for (const d of dots) states.set(d.point.state, (states.get(d.point.state) || "") + spot(d));
  return [...states].sort((a, b) => ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]))
    .map(([state, d]) => s("path", { class: `dots ${state}`, d }));
}

function pathOf(places) {
  return places.map((p, n) => `${n ? "L" : "M"}${p.px.toFixed(1)} ${p.py.toFixed(1)}`).join("");
}

function stairsOf(places, right) {
  if (!places.length) return "";
  const steps = places.slice(1).map((p) => `H${p.px.toFixed(1)}V${p.py.toFixed(1)}`).join("");
  return `M${places[0].px.toFixed(1)} ${places[0].py.toFixed(1)}${steps}H${right}`;
}

const LETTER = 6.4, LABEL = 15; // pixels of a letter and of a line of a label, about

// The label of a line that leaves through the upper edge: beside it, lower where another label stands, right of it where
// there is no room on its left. A line of two points is straight here.
function labelAtEdge(line, from, last, right, taken) {
  const width = line.label.length * LETTER;
  for (let row = 0; row < 4; row++) {
    const y = MARGIN.top + 12 + row * LABEL, px = from.px + ((from.py - y) / (from.py - last.py)) * (last.px - from.px);
    if (from.py <= y || px > right) break;
    const isLeft = px - 8 - width >= MARGIN.left, x = isLeft ? px - 8 : px + 8, left = isLeft ? x - width : x;
    if (left + width > right + 8 || taken.some((one) => one.y === y && one.left < left + width && left < one.left + one.width)) continue;
    taken.push({ y, left, width });
    return s("text", { class: `label ${line.state || ""}`, x, y: y - 2, "text-anchor": isLeft ? "end" : "start" }, line.label);
  }
  return s("text");
}

function labelOf(line, place, right, taken) {
  const places = line.points.map(place), inside = places.filter((p) => p.px >= MARGIN.left - 1 && p.px <= right + 1 && p.py >= MARGIN.top - 8);
  if (line.isLeft && inside.length) return s("text", { class: `label ${line.state}`, x: MARGIN.left + 6, y: inside[0].py - 6 }, line.label);
  const [from, last] = [places[0], places[places.length - 1]];
  if (places.length === 2 && last.py < MARGIN.top - 6) return labelAtEdge(line, from, last, right, taken);
  const end = inside[inside.length - 1];
  if (!end) return s("text");
  return s("text", { class: `label ${line.state || ""}`, x: Math.min(end.px, right) - 4, y: Math.max(MARGIN.top + 4, end.py - 6), "text-anchor": "end" }, line.label);
}

function pointer(dots, options, tip, width) {
  const ring = s("circle", { class: "ring", r: 7, visibility: "hidden" });
  const nearest = (event) => {
    const box = event.currentTarget.getBoundingClientRect(), px = event.clientX - box.left + MARGIN.left, py = event.clientY - box.top;
    let best = null, least = REACH * REACH;
    for (const d of dots) {
      const far = (d.px - px) ** 2 + (d.py - py) ** 2;
      if (far < least && d.point.item) [best, least] = [d, far];
    }
    return best;
  };
  const hide = () => { tip.hidden = true; ring.setAttribute("visibility", "hidden"); };
  const move = (event) => {
    const best = nearest(event);
    if (!best) return hide();
    ring.setAttribute("cx", best.px);
    ring.setAttribute("cy", best.py);
    ring.setAttribute("visibility", "visible");
    tip.hidden = false;
    tip.replaceChildren(...options.tip(best.point.item));
    tip.style.left = `${Math.min(best.px + 12, Math.max(0, width - 270))}px`;
    tip.style.top = `${Math.max(0, best.py - 12 - tip.offsetHeight)}px`;
  };
  const area = s("rect", {
    class: "area", x: MARGIN.left, y: 0, width: width - MARGIN.left, height: (options.height || 300) - MARGIN.bottom + 6,
    pointermove: move, pointerleave: hide,
    click: (event) => { const best = nearest(event); if (best && options.pick) options.pick(best.point.item); },
  });
  return s("g", {}, ring, area);
}
