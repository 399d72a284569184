// Times with their kind: predicted ones are expected times, with the bound of the code beside them.

const isExpected = (measurements) => measurements.some((m) => m.kind === "predicted" && m.bound_us > 0);

const ifKnown = (time) => (time > 0 ? inUs(time) : DASH); // a record has 0 for what it does not know

function meanOf(measurements, name) { // weighted and geometric; 0 where it is not known of all cases
  const weight = measurements.reduce((sum, m) => sum + m.weight, 0);
  if (!weight || measurements.some((m) => !(m[name] > 0))) return 0;
  return Math.exp(measurements.reduce((sum, m) => sum + m.weight * Math.log(m[name]), 0) / weight);
}

function besideExpected(measurements) {
  if (!isExpected(measurements)) return "";
  const parts = [["warm", meanOf(measurements, "warm_us")], ["bound", meanOf(measurements, "bound_us")]];
  return `expected, cold; ${parts.filter(([, time]) => time).map(([name, time]) => `${name} ${inUs(time)}`).join(", ")}`;
}

function isTie(a, b) { // the rule of records/ranking.py
  const error = Math.max(a.error, b.error);
  return a.kind === "predicted" && b.kind === "predicted" && error > 0 && Math.max(a.time_us, b.time_us) <= Math.min(a.time_us, b.time_us) * (1 + error);
}

function expectedColumns(measurements, of = (row) => row, words = new Glossary()) {
  if (!isExpected(measurements)) return [];
  return [[words.word("cold", "warm"), (row) => ifKnown(of(row).warm_us), "n"], [words.word("bound"), (row) => ifKnown(of(row).bound_us), "n"]];
}

const timeHeading = (measurements) => (isExpected(measurements) ? "predicted: expected, cold" : measurements.length ? `${measurements[0].kind} time` : "time");

function stallsOf(m) {
  const parts = Object.entries(m.stalls_us).sort((a, b) => b[1] - a[1]).filter(([, us]) => us >= 0.03 * m.time_us).slice(0, 4);
  return parts.map(([cause, us]) => `${cause} ${inShare(us / m.time_us)}`).join(", ") || DASH;
}

function timesOf(sheet) {
  const rows = sheet.measurements, error = Math.max(0, ...rows.map((m) => m.error));
  if (!rows.length) return null;
  return h("section", {}, h("h3", {}, "Times"), table([
    ["case", (m) => m.case, "mono"], [timeHeading(rows), (m) => inUs(m.time_us), "n"], ...expectedColumns(rows),
    ["interval", (m) => (m.ci_high_us > m.ci_low_us ? `${inUs(m.ci_low_us)} to ${inUs(m.ci_high_us)}` : DASH), "n"],
    ["of the roofline", (m) => (m.roofline_us ? [meter(m.roofline_us / m.time_us), inShare(m.roofline_us / m.time_us)] : DASH), "n"], ["bound by", (m) => m.bound || DASH],
    ["next", (m) => Object.entries(m.resources_us).filter(([name]) => name !== m.bound).sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name, value]) => `${name} ${inUs(value)}`).join(", ") || DASH],
    ...(rows.some((m) => Object.keys(m.stalls_us).length) ? [["where it goes", stallsOf]] : []),
  ], rows), error > 0 ? h("p", { class: "note" }, `Predicted times within ${inShare(error)} of each other are equal: that is the clock's error.`) : null);
}

function foretoldOf(book) {
  if (!book.agreement) return null;
  const { count, ratio, error, spearman } = book.agreement;
  return h("section", {}, h("h2", {}, "Measured beside predicted"),
    h("p", { class: "note" }, `Over ${counted(count, "pair")} a measured time is ${inTimes(ratio)} the predicted one at the median; median error ${inShare(error)}${spearman === null ? "" : `, rank correlation ${digits(spearman, 2)}`}.`),
    table([
      ["candidate", (pair) => pair.name, "mono"], ["case", (pair) => pair.case, "mono"], ["measured", (pair) => inUs(pair.measured_us), "n"], ["predicted", (pair) => inUs(pair.predicted_us), "n"],
      ["measured / predicted", (pair) => inTimes(pair.measured_us / pair.predicted_us), "n"], ["predicted to be bound by", (pair) => pair.resource || DASH],
    ], book.foretold));
}
