// The difference of two texts, line by line, by Myers' algorithm; numbers of lines agree with the compiler's.

function linesOf(text) {
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  if (lines.length && !lines[lines.length - 1]) lines.pop();
  return lines;
}

const MOST_EDITS = 4000; // beyond this two texts have nothing in common that is worth finding

// Rows {sign: " " | "+" | "-", text, before, after}.
function difference(oldText, newText) {
  const a = linesOf(oldText), b = linesOf(newText);
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const rows = [];
  const same = (i, j) => rows.push({ sign: " ", text: a[i], before: i + 1, after: j + 1 });
  for (let i = 0; i < start; i++) same(i, i);
  for (const [sign, i, j] of edits(a.slice(start, endA), b.slice(start, endB))) {
    if (sign === " ") same(i + start, j + start);
    else if (sign === "-") rows.push({ sign, text: a[i + start], before: i + start + 1, after: null });
    else rows.push({ sign, text: b[j + start], before: null, after: j + start + 1 });
  }
  for (let i = endA, j = endB; i < a.length; i++, j++) same(i, j);
  return rows;
}

function edits(a, b) {
  const most = Math.min(a.length + b.length, MOST_EDITS), trace = [], v = new Map([[1, 0]]);
  for (let d = 0; d <= most; d++) {
    trace.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && v.get(k - 1) < v.get(k + 1));
      let x = down ? v.get(k + 1) : v.get(k - 1) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) { x++; y++; }
      v.set(k, x);
      if (x >= a.length && y >= b.length) return walkBack(trace, a.length, b.length);
    }
  }
  return [...a.map((_, i) => ["-", i, 0]), ...b.map((_, j) => ["+", a.length, j])];
}

function walkBack(trace, x, y) {
  const found = [];
  for (let d = trace.length - 1; d >= 0; d--) {
    const v = trace[d], k = x - y;
    const down = k === -d || (k !== d && v.get(k - 1) < v.get(k + 1));
    const from = down ? k + 1 : k - 1, fromX = v.get(from) ?? 0, fromY = fromX - from;
    while (x > fromX && y > fromY && x > 0 && y > 0) found.push([" ", --x, --y]);
    if (d > 0) {
      if (down) found.push(["+", x, --y]);
      else found.push(["-", --x, y]);
    }
  }
  return found.reverse();
}

const AROUND = 3;

// The rows with long unchanged stretches left out: {sign: "gap", text}.
function shortened(rows) {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, n) => {
    if (row.sign !== " ") near.fill(1, Math.max(0, n - AROUND), Math.min(rows.length, n + AROUND + 1));
  });
  const found = [];
  for (let n = 0; n < rows.length; ) {
    let end = n;
    while (end < rows.length && !near[end]) end++;
    if (end - n > 1) found.push({ sign: "gap", text: `${end - n} lines unchanged` });
    else found.push(...rows.slice(n, end));
    n = end;
    while (n < rows.length && near[n]) found.push(rows[n++]);
  }
  return found;
}
