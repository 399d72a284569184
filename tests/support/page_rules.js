// What must hold of any page in a browser. Each function lists the offenders; an empty list is right.

const isInScroller = (one) => {
  for (let up = one.parentElement; up; up = up.parentElement) if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return true;
  return false;
};

// Elements that leave the window, and text that its own box hides.
function cutOff() {
  const isOut = (one) => {
    const box = one.getBoundingClientRect();
    return box.width && box.height && (box.right > innerWidth + 1 || box.left < -1);
  };
  const hidesText = (one) => {
    const style = getComputedStyle(one);
    return /hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis" && one.clientWidth && one.scrollWidth > one.clientWidth + 1;
  };
  const all = [...document.querySelectorAll("body *")].filter((one) => !one.matches(".skip") && !one.parentElement.closest("svg"));
  return all.filter((one) => (isOut(one) && !isInScroller(one)) || hidesText(one))
    .map((one) => `${one.tagName} ${one.getAttribute("class") || ""} ${one.textContent.slice(0, 30)}`).slice(0, 5);
}

// Drawings that have not the width of their place, or whose labels stand outside.
function badPlots() {
  return [...document.querySelectorAll(".plot")].flatMap((host) => {
    const drawing = host.querySelector("svg");
    if (!drawing) return ["not drawn"];
    const box = drawing.getBoundingClientRect(), outer = host.getBoundingClientRect(), drawn = drawing.viewBox.baseVal.width;
    const labels = [...drawing.querySelectorAll("text")].filter((one) => one.textContent).map((one) => one.getBoundingClientRect());
    return [
      Math.abs(drawn - outer.width) > 1 && `drawn ${drawn} wide for ${outer.width}`,
      box.right > outer.right + 1 && `ends at ${box.right}, its place at ${outer.right}`,
      labels.some((one) => one.left < box.left - 1 || one.right > box.right + 1) && "a label is cut off",
    ].filter(Boolean);
  });
}

// Ids, references between elements, roles inside others, names of drawings.
function badReferences() {
  const all = (selector) => [...document.querySelectorAll(selector)], faults = [], ids = all("[id]").map((one) => one.id);
  const say = (elements, fault) => faults.push(...elements.map((one) => `${fault}: ${one.outerHTML.slice(0, 80)}`));
  faults.push(...ids.filter((id, n) => ids.indexOf(id) !== n).map((id) => `id ${id} stands twice`));
  for (const name of ["aria-controls", "aria-labelledby", "aria-activedescendant"])
    say(all(`[${name}]`).filter((one) => one.getAttribute(name) && !document.getElementById(one.getAttribute(name))), `${name} names nothing`);
  for (const [role, around] of Object.entries({ tab: "tablist", option: "listbox", listitem: "list" }))
    say(all(`[role=${role}]`).filter((one) => !one.closest(`[role=${around}]`)), `no ${around} around it`);
  say(all("[tabindex]").filter((one) => one.tabIndex > 0), "a tabindex above 0");
  say(all("th").filter((one) => !one.scope), "no scope");
  say(all("svg").filter((one) => !one.matches("[aria-hidden=true], [role=img][aria-label]")), "a drawing without a name");
  say(all("[role=tablist]").filter((one) => one.querySelectorAll("[aria-selected=true]").length !== 1 || one.querySelectorAll('[tabindex="0"]').length !== 1), "not one chosen tab");
  return faults;
}

function colour(text) {
  const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
  return { r, g, b, a };
}

const over = (a, b) => ({ r: a.r * a.a + b.r * (1 - a.a), g: a.g * a.a + b.g * (1 - a.a), b: a.b * a.a + b.b * (1 - a.a), a: 1 });

// Relative luminance, by WCAG 2.2.
function luminance({ r, g, b }) {
  const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

function colourBehind(one) {
  const layers = [];
  for (let up = one; up; up = up.parentElement) {
    const layer = colour(getComputedStyle(up).backgroundColor);
    layers.unshift(layer);
    if (layer.a === 1) break;
  }
  return layers.reduce((below, layer) => over(layer, below), { r: 255, g: 255, b: 255, a: 1 });
}

// Text below the contrast of WCAG 2.2, level AA.
function badContrast() {
  const faults = new Map(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement, box = one.getBoundingClientRect();
    if (!node.textContent.trim() || !box.width || !box.height || one.closest("noscript, script, button:disabled, option")) continue;
    const style = getComputedStyle(one), isDrawn = one instanceof SVGElement, paper = colourBehind(isDrawn ? one.closest("svg").parentElement : one);
    const ink = over(colour(isDrawn ? style.fill : style.color), paper), [low, high] = [luminance(ink), luminance(paper)].sort((a, b) => a - b);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700), ratio = (high + 0.05) / (low + 0.05);
    if (ratio < (isLarge ? 3 : 4.5)) faults.set(`${one.tagName} ${one.getAttribute("class") || ""}`, `${ratio.toFixed(2)} ${node.textContent.trim().slice(0, 20)}`);
  }
  return [...faults].map((pair) => pair.join(": "));
}
