// Numbers, the curve of precision and recall, the numbers of one cell, and the links as text.
"use strict";

const NAMES = { precision: "precision", recall: "recall", aer: "AER", f1: "F1" };

// columns: [{of, title, tag, values: measures or null, links}]; with two systems, their columns of one title stand together.
function drawNumbers(place, columns, note) {
  const titles = [...new Set(columns.map(({ title }) => title))];
  const isCompared = columns.length > titles.length;
  const inOrder = titles.flatMap((title) => columns.filter((column) => column.title === title));
  const heads = [html("tr", {}, html("td"), ...titles.map((title) => html("th", { scope: "col", colspan: columns.length / titles.length }, title)))];
  if (isCompared) {
    heads.push(html("tr", {}, html("td"), ...inOrder.map(({ tag }) => html("th", { scope: "col" }, html("span", { class: `tag ${tag.toLowerCase()}` }, tag)))));
  }
  const row = (name, title, text) => html("tr", { class: name }, html("th", { scope: "row" }, title),
    ...inOrder.map((column) => html("td", { "data-measure": name, "data-of": column.of }, text(column))));
  const rows = MEASURES.map((name) => row(name, NAMES[name], ({ values }) => (values === null ? "–" : percent(values[name]))));
  place.replaceChildren(
    html("table", { class: isCompared ? "compared" : "" }, html("thead", {}, ...heads), html("tbody", {}, ...rows, row("links", "links", ({ links }) => String(links)))),
    html("p", { class: "hint" }, note));
}

const PLOT = { width: 264, height: 168, left: 32, right: 8, top: 10, bottom: 28 };

// Precision against recall of all sentences at every threshold. curves: [{totals, scored, tag}]; onPick(threshold) when a point is clicked
function drawCurve(place, curves, threshold, onPick) {
  place.hidden = curves.length === 0;
  if (place.hidden) return;
  const lines = curves.map(({ totals, scored, tag }) => ({
    tag, points: curvePoints(totals, scored), now: measure(totals.above(threshold)),
  }));
  const all = lines.flatMap(({ points, now }) => [...points, now]);
  const lowest = Math.min(0.9, ...all.filter(({ recall }) => recall > 0.3).map(({ precision, recall }) => Math.min(precision, recall)));
  const from = Math.max(0, Math.floor(lowest * 10) / 10);
  const x = (value) => PLOT.left + ((Math.max(value, from) - from) / (1 - from)) * (PLOT.width - PLOT.left - PLOT.right);
  const y = (value) => PLOT.height - PLOT.bottom - ((Math.max(value, from) - from) / (1 - from)) * (PLOT.height - PLOT.top - PLOT.bottom);
  const picture = svg("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": "Precision against recall of all sentences" },
    ...curveAxes(from, x, y));
  for (const { tag, points, now } of lines) {
    const path = points.map(({ precision, recall }, k) => `${k ? "L" : "M"}${x(recall).toFixed(1)} ${y(precision).toFixed(1)}`).join("");
    picture.append(svg("path", { class: `line ${tag}`, d: path }));
    picture.append(svg("circle", { class: `now ${tag}`, cx: x(now.recall), cy: y(now.precision), r: 4.5 }));
  }
  picture.addEventListener("click", (event) => {
    const scale = PLOT.width / picture.getBoundingClientRect().width;
    const nearest = nearestPoint(lines[0].points, event.offsetX * scale, event.offsetY * scale, x, y);
    if (nearest !== null) onPick(nearest.threshold);
  });
  place.replaceChildren(picture);
}

// The points of a curve, one for each hundredth of the threshold; the curve of a file without scores is one point.
function curvePoints(totals, scored) {
  const points = [];
  for (let t = 0; t < (scored ? SCALE : 1); t += 100) {
    const counts = totals.above(t);
    if (counts.links > 0) points.push({ threshold: t, ...measure(counts) });
  }
  return points;
}

function curveAxes(from, x, y) {
  const marks = [from, (from + 1) / 2, 1];
  const label = (value) => String(Math.round(100 * value));
  return [
    ...marks.map((value) => svg("path", { class: "guide", d: `M${x(value)} ${y(from)}V${y(1)}M${x(from)} ${y(value)}H${x(1)}` })),
    ...marks.map((value) => svg("text", { x: x(value), y: y(from) + 13, "text-anchor": value === 1 ? "end" : "middle" }, label(value))),
    ...marks.map((value) => svg("text", { x: x(from) - 5, y: y(value) + 4, "text-anchor": "end" }, label(value))),
    svg("text", { x: x((from + 1) / 2), y: PLOT.height - 2, "text-anchor": "middle" }, "recall"),
    svg("text", { transform: `translate(9 ${y((from + 1) / 2)}) rotate(-90)`, "text-anchor": "middle" }, "precision"),
  ];
}

function nearestPoint(points, px, py, x, y) {
  let best = null;
  let least = Infinity;
  for (const point of points) {
    const distance = Math.hypot(x(point.recall) - px, y(point.precision) - py);
    if (distance < least) [best, least] = [point, distance];
  }
  return best;
}

// The numbers of one cell: its words, its gold, and a column for what each system says.
function drawReadout(place, s, i, j, gold) {
  if (i < 0 || j < 0) {
    place.replaceChildren(html("span", { class: "hint" }, "Point at a cell or a band, or tap it, for its numbers."));
    return;
  }
  const code = codeOf(s, i, j);
  const kind = gold?.get(code);
  const badge = kind === undefined ? "" : html("span", { class: kind ? "badge sure" : "badge possible" }, kind ? "sure" : "possible");
  const pair = [word(sentences[s].src[i]), html("sub", {}, String(i)), " – ", word(sentences[s].tgt[j]), html("sub", {}, String(j)), " ", badge];
  const columns = systems.filter((system) => !system.isBefore).map((system) => html("span", { class: "item" },
    html("small", {}, system.label),
    html("b", {}, scoreText(s, system, code)),
    html("small", {}, system.before ? `before ${scoreText(s, system.before, code)}` : "")));
  place.replaceChildren(html("span", { class: "pair" }, ...pair), ...columns);
}

function scoreText(s, system, code) {
  const score = scoresOf(s, system).get(code);
  if (!system.scored) return score === undefined ? "no link" : "link";
  return score === undefined ? "0" : decimal(score, 4);
}

// "house – maison, 0.93, sure in gold"
function linkItem(s, { i, j, score }, system, gold) {
  const kind = gold?.get(codeOf(s, i, j));
  const verdict = gold === null ? "" : kind === undefined ? "not in gold" : kind === 1 ? "sure in gold" : "possible in gold";
  const number = system.scored ? decimal(score) : "";
  return html("li", { "data-link": `${i}-${j}`, class: gold !== null && kind === undefined ? "wrong" : "" },
    word(sentences[s].src[i], { class: "word" }), " – ", word(sentences[s].tgt[j], { class: "word" }),
    ...[number, verdict].filter((text) => text !== "").flatMap((text, at) => [html("span", { class: "comma" }, ", "), html("span", { class: text === verdict ? "verdict" : "score" }, text)]));
}

// The links as text, and the sure links that are missed.
function drawLinks(s, links, system, gold) {
  byId("links").replaceChildren(...links.map((link) => linkItem(s, link, system, gold)));
  const shown = new Set(links.map(({ i, j }) => codeOf(s, i, j)));
  const width = sentences[s].tgt.length;
  const missed = [...(gold ?? [])].filter(([code, kind]) => kind === 1 && !shown.has(code)).map(([code]) => code).sort((x, y) => x - y);
  byId("missed").replaceChildren(...missed.map((code) => {
    const [i, j] = [Math.floor(code / width), code % width];
    return html("li", { "data-link": `${i}-${j}` }, word(sentences[s].src[i], { class: "word" }), " – ", word(sentences[s].tgt[j], { class: "word" }));
  }));
  byId("links-head").textContent = links.length === 1 ? "1 link" : `${links.length} links`;
  byId("missed-head").hidden = missed.length === 0;
  byId("missed-head").textContent = `${missed.length} missed`;
}
