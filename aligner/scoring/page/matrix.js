// The matrix of a sentence pair: source words as rows, target words as columns.
//
// A disc's area is the posterior. Gold is the square behind the disc: sure with a border, possible without.
"use strict";

const SIGNIFICANT = 500; // growth and loss of less than 0.05 are drawn like no change

function radius(score, size) {
  return (size / 2 - 1.5) * Math.sqrt(Math.min(score, SCALE) / SCALE);
}

// Gold: a square for each link, inside its cell, so that no neighbour hides its border.
function drawGold(layer, s, gold, size) {
  for (const [code, kind] of gold ?? []) {
    const [i, j] = cellOf(s, code);
    layer.append(svg("rect", {
      "data-gold": `${i}-${j}`,
      class: KINDS[kind],
      x: j * size + 1.5,
      y: i * size + 1.5,
      width: size - 3,
      height: size - 3,
    }));
  }
}

// The centre of a cell.
function centre(at, size) {
  return (at + 0.5) * size;
}

// Discs of a system. size: pixels of a cell
function drawDiscs(layer, s, system, { threshold, size }) {
  eachScore(s, system, (i, j, score) => {
    layer.append(svg("circle", {
      "data-disc": `${i}-${j}`,
      class: score > threshold ? "link" : "pale",
      cx: centre(j, size),
      cy: centre(i, size),
      r: radius(score, size).toFixed(2),
    }));
  });
}

// Discs after projection, a ring for what they were before it, and a sign: + grew, − shrank.
function drawChange(layer, s, system, { threshold, size }) {
  const after = scoresOf(s, system);
  const before = scoresOf(s, system.before);
  for (const code of new Set([...after.keys(), ...before.keys()])) {
    const [now, was] = [after.get(code) ?? 0, before.get(code) ?? 0];
    const [i, j] = cellOf(s, code);
    const at = { cx: centre(j, size), cy: centre(i, size) };
    const kind = Math.abs(now - was) < SIGNIFICANT ? "" : now > was ? " grew" : " shrank";
    layer.append(svg("circle", {
      ...at,
      "data-disc": `${i}-${j}`,
      class: (now > threshold ? "link" : "pale") + kind,
      r: radius(now, size).toFixed(2),
    }));
    if (kind === "") continue;
    if (Math.abs(radius(now, size) - radius(was, size)) >= 2) {
      layer.append(svg("circle", { ...at, class: `ring${kind}`, r: radius(was, size).toFixed(2) }));
    }
    if (size >= 14) layer.append(changeSign(at, kind, size, radius(now, size) > size / 4));
  }
}

// A plus or a minus in the middle of a disc; isInside: the disc is large enough to carry the sign.
function changeSign({ cx, cy }, kind, size, isInside) {
  const arm = size / 8;
  const upright = kind === " grew" ? `M${cx} ${cy - arm}V${cy + arm}` : "";
  const place = isInside ? " inside" : "";
  return svg("path", { class: `sign${kind}${place}`, d: `M${cx - arm} ${cy}H${cx + arm}${upright}` });
}

// A corner where only A (upper left) or only B (lower right) has the link. compared: [A, B]
function drawDifference(layer, s, compared, { threshold, size }) {
  const links = compared.map((system) => linksOf(s, system, threshold));
  const codes = links.map((list) => codesOf(s, list));
  const leg = Math.max(6, size * 0.34);
  for (const side of [0, 1]) {
    for (const { i, j } of links[side]) {
      if (codes[1 - side].has(codeOf(s, i, j))) continue;
      const [x, y] = [(j + side) * size, (i + side) * size];
      const step = side === 0 ? leg : -leg;
      layer.append(svg("path", { class: side === 0 ? "only-a" : "only-b", d: `M${x} ${y}h${step}L${x} ${y + step}z` }));
    }
  }
}

// The light of a row and of a column of cells; none is lit at first.
class Lights {
  constructor(width, height, size) {
    this.size = size;
    this.rects = [{ width, height: size }, { width: size, height }].map((box) => (
      svg("rect", { class: "light", visibility: "hidden", ...box })
    ));
  }

  // -1 lights none.
  light(i, j) {
    [["y", i], ["x", j]].forEach(([axis, at], k) => {
      this.rects[k].setAttribute("visibility", at < 0 ? "hidden" : "visible");
      if (at >= 0) this.rects[k].setAttribute(axis, at * this.size);
    });
  }
}

// A drawing with words above its columns and to the left of its rows.
// size: pixels of a cell; longest: pixels of the longest word above a column
function wordsAround(body, { rows, columns, corner, size, longest }) {
  const grid = html("div", { class: "grid" },
    html("div", { class: "corner" }, corner),
    html("div", { class: "column-heads", "aria-hidden": "true" }, ...columns),
    html("div", { class: "row-heads", "aria-hidden": "true" }, ...rows),
    body);
  grid.style.setProperty("--cell", `${size}px`);
  grid.style.setProperty("--longest", `${longest}px`);
  return grid;
}

// The lines around all cells, as one path: a long sentence pair has a million cells.
function cellLines(rows, columns, size) {
  if (rows === 0 || columns === 0) return "";
  const across = Array.from({ length: rows - 1 }, (_, i) => `M0 ${(i + 1) * size}h${columns * size}`);
  const down = Array.from({ length: columns - 1 }, (_, j) => `M${(j + 1) * size} 0v${rows * size}`);
  return `M0 0h${columns * size}v${rows * size}H0z${across.join("")}${down.join("")}`;
}

// The row and the column of the cell that an event points at; -1 and -1 if it points at none.
// s: the sentence that is drawn; size: pixels of a cell
function cellAt(event, { s, size }) {
  const box = event.target.closest("svg")?.getBoundingClientRect();
  if (box === undefined) return [-1, -1];
  const { src, tgt } = sentences[s];
  const [i, j] = [(event.clientY - box.top) / size, (event.clientX - box.left) / size].map(Math.floor);
  return i >= 0 && j >= 0 && i < src.length && j < tgt.length ? [i, j] : [-1, -1];
}

class Matrix {
  // onPoint(i, j) when a cell is pointed at, onPoint(-1, -1) when none is; onPick(i, j) when a cell is clicked
  constructor(place, { onPoint, onPick }) {
    this.place = place;
    this.s = -1;
    this.size = 0;
    this.lights = null; // until cells are built
    place.addEventListener("pointermove", (event) => onPoint(...cellAt(event, this)));
    place.addEventListener("pointerleave", () => onPoint(-1, -1));
    place.addEventListener("click", (event) => {
      const [i, j] = cellAt(event, this);
      if (i >= 0) onPick(i, j);
    });
  }

  // Builds words and cells of a sentence; nothing is done if they stand already.
  build(s, size, caption) {
    if (s === this.s && size === this.size && caption === this.caption) return;
    Object.assign(this, { s, size, caption });
    const { src, tgt } = sentences[s];
    const [width, height] = [tgt.length * size, src.length * size];
    const cells = svg("path", {
      class: "cells", "data-rows": src.length, "data-columns": tgt.length, d: cellLines(src.length, tgt.length, size),
    });
    this.lights = new Lights(width, height, size);
    this.cursor = svg("rect", { class: "cursor", width: size, height: size, visibility: "hidden" });
    this.marks = svg("g", { class: "marks" });
    const viewBox = `-0.5 -0.5 ${width + 1} ${height + 1}`;
    this.body = svg("svg", { width: width + 1, height: height + 1, viewBox, "aria-hidden": "true" },
      cells, ...this.lights.rects, this.marks, this.cursor);
    this.rows = src.map((text, i) => word(text, { "data-i": i, title: text }));
    this.columns = tgt.map((text, j) => html("span", { "data-j": j }, word(text, { title: text })));
    this.place.replaceChildren(this.grid());
    this.place.scrollTo(0, 0);
  }

  grid() {
    const { tgt } = sentences[this.s];
    const longest = Math.min(Math.max(...tgt.map((text) => measureText(text, 15)), 20), 140);
    const corner = this.caption ? tagOf(this.caption) : "";
    return wordsAround(this.body, { ...this, corner, longest: Math.ceil(longest) });
  }

  // view: {system, threshold, isChange: whether growth and loss are drawn, compared: the two systems, or null,
  //        gold: code -> kind, or null}
  mark(view) {
    const { s, size, marks } = this;
    marks.replaceChildren();
    drawGold(marks, s, view.gold, size);
    const draw = view.isChange && view.system.before ? drawChange : drawDiscs;
    draw(marks, s, view.system, { threshold: view.threshold, size });
    if (view.compared) drawDifference(marks, s, view.compared, { threshold: view.threshold, size });
  }

  // Lights a row and a column; -1 lights none.
  light(i, j) {
    this.lights?.light(i, j);
  }

  // The cell cursor of the keyboard; null hides it.
  point(cell) {
    this.cursor.setAttribute("visibility", cell ? "visible" : "hidden");
    if (!cell) return;
    this.cursor.setAttribute("x", cell.j * this.size);
    this.cursor.setAttribute("y", cell.i * this.size);
    this.cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}
