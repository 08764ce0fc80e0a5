// Numbers, the curve of precision and recall, the numbers of one cell, and the links as text.
"use strict";

const MEASURES = { precision: "precision", recall: "recall", aer: "AER", f1: "F1" }; // name -> title

// columns: [{of, title, tag, values: measures or null, links}]
// With two systems, their columns of one title stand together.
function drawNumbers(place, columns, note) {
  const titles = [...new Set(columns.map(({ title }) => title))];
  const isCompared = columns.length > titles.length;
  const inOrder = titles.flatMap((title) => columns.filter((column) => column.title === title));
  const colspan = columns.length / titles.length;
  const heads = [html("tr", {}, html("td"), ...titles.map((title) => html("th", { scope: "col", colspan }, title)))];
  if (isCompared) {
    heads.push(html("tr", {}, html("td"), ...inOrder.map(({ tag }) => html("th", { scope: "col" }, tagOf(tag)))));
  }
  const row = (name, title, text) => html("tr", { class: name }, html("th", { scope: "row" }, title),
    ...inOrder.map((column) => html("td", { "data-measure": name, "data-of": column.of }, text(column))));
  const percentOf = (name) => ({ values }) => (values === null ? "–" : percent(values[name]));
  const body = html("tbody", {},
    ...Object.entries(MEASURES).map(([name, title]) => row(name, title, percentOf(name))),
    row("links", "links", ({ links }) => String(links)));
  place.replaceChildren(
    html("table", { class: isCompared ? "compared" : "" }, html("thead", {}, ...heads), body),
    html("p", { class: "hint" }, note));
}

const PLOT = { width: 264, height: 168, left: 32, right: 8, top: 10, bottom: 28 };

// Precision against recall of all sentences at every threshold.
// curves: [{totals, scored, tag}]; onPick(threshold) when a point is clicked
function drawCurve(place, curves, threshold, onPick) {
  place.hidden = curves.length === 0;
  if (place.hidden) return;
  const lines = curves.map(({ totals, scored, tag }) => ({
    tag, points: curvePoints(totals, scored), now: measure(totals.above(threshold)),
  }));
  const shown = lines.flatMap(({ points, now }) => [...points.filter(({ recall }) => recall > 0.3), now]);
  const lowest = Math.min(0.9, ...shown.map(({ precision, recall }) => Math.min(precision, recall)));
  const from = Math.floor(lowest * 10) / 10; // both axes begin here
  const part = (value) => (Math.max(value, from) - from) / (1 - from);
  const x = (value) => PLOT.left + part(value) * (PLOT.width - PLOT.left - PLOT.right);
  const y = (value) => PLOT.height - PLOT.bottom - part(value) * (PLOT.height - PLOT.top - PLOT.bottom);
  const picture = svg("svg", {
    viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": "Precision against recall of all sentences",
  }, ...curveAxes(from, x, y));
  for (const { tag, points, now } of lines) {
    const places = points.map(({ precision, recall }) => `${x(recall).toFixed(1)} ${y(precision).toFixed(1)}`);
    picture.append(svg("path", { class: `line ${tag}`, d: places.length > 0 ? `M${places.join("L")}` : "" }));
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
    ...marks.flatMap((value) => [
      svg("path", { class: "guide", d: `M${x(value)} ${y(from)}V${y(1)}M${x(from)} ${y(value)}H${x(1)}` }),
      svg("text", { x: x(value), y: y(from) + 13, "text-anchor": value === 1 ? "end" : "middle" }, label(value)),
      svg("text", { x: x(from) - 5, y: y(value) + 4, "text-anchor": "end" }, label(value)),
    ]),
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
  const pair = [
    word(sentences[s].src[i]), html("sub", {}, String(i)), " – ", word(sentences[s].tgt[j]), html("sub", {}, String(j)),
    " ", kind === undefined ? "" : html("span", { class: `badge ${KINDS[kind]}` }, KINDS[kind]),
  ];
  const columns = systems.filter((system) => !system.isBefore).map((system) => html("span", { class: "item" },
    html("small", {}, system.label),
    html("b", {}, scoreText(s, system, code)),
    html("small", {}, system.before ? `before ${scoreText(s, system.before, code)}` : "")));
  place.replaceChildren(html("span", { class: "pair" }, ...pair), ...columns);
}

// What a system says of a cell. The data leave out what a model holds for less probable than 0.001.
function scoreText(s, system, code) {
  const score = scoresOf(s, system).get(code);
  if (score === undefined) return system.column >= 0 ? "≤ 0.001" : "no link";
  return system.scored ? decimal(score, 4) : "link";
}

// "house – maison"
function pairWords(s, { i, j }) {
  const { src, tgt } = sentences[s];
  return [word(src[i], { class: "word" }), " – ", word(tgt[j], { class: "word" })];
}

// "house – maison, 0.93, sure in gold"
function linkItem(s, link, system, gold) {
  const { i, j, score } = link;
  const kind = gold?.get(codeOf(s, i, j));
  const isWrong = gold !== null && kind === undefined;
  const verdict = isWrong ? "not in gold" : `${KINDS[kind]} in gold`;
  return html("li", { "data-link": `${i}-${j}`, class: isWrong ? "wrong" : "" },
    ...pairWords(s, link),
    ...(system.scored ? [", ", html("span", { class: "score" }, decimal(score))] : []),
    ...(gold === null ? [] : [", ", html("span", { class: "verdict" }, verdict)]));
}

// The links as text, and the sure links that are missed.
function drawLinks(s, links, system, gold) {
  const missed = missedLinks(s, links, gold);
  byId("links").replaceChildren(...links.map((link) => linkItem(s, link, system, gold)));
  byId("missed").replaceChildren(...missed.map((link) => (
    html("li", { "data-link": `${link.i}-${link.j}` }, ...pairWords(s, link))
  )));
  byId("links-head").textContent = numberOf(links.length, "link");
  byId("links-head").hidden = system === NO_SYSTEM;
  byId("missed-head").hidden = missed.length === 0;
  byId("missed-head").textContent = `${missed.length} ${system === NO_SYSTEM ? "sure in gold" : "missed"}`;
}
