// What is shown, and how all parts of the page follow it.
"use strict";

const STEP = 100; // what an arrow key moves the threshold by
const HAS_DIRECTIONS = data.columns.length > 1; // a model of one direction has one column
const hand = new Hand();
const state = {
  s: 0,
  threshold: data.model?.threshold ?? 0,
  a: firstSystem(),
  b: NO_SYSTEM,
  view: "matrix",
  isChange: false, // whether growth and loss by projection are drawn
  isEditing: false,
  cursor: null, // {i, j} of the keyboard in the matrix while editing
  lit: [-1, -1], // the row and the column that are pointed at; -1 stands for none
};

const totals = new Map(); // system id -> Totals; emptied when gold changes by hand

function totalsOf(system) {
  if (!totals.has(system.id)) totals.set(system.id, new Totals(system, (s) => hand.finishedGold(s)));
  return totals.get(system.id);
}

function errorOf(s) {
  const gold = hand.finishedGold(s);
  if (gold === null || state.a === NO_SYSTEM) return null;
  const counts = count(s, state.a, state.threshold, gold);
  const wrong = counts.links - counts.linksPossible;
  return { aer: measure(counts).aer, errors: wrong + counts.sure - counts.linksSure };
}

const list = new SentenceList({
  errorOf,
  disagreementOf: (s) => disagreement(s, state.a, state.b, state.threshold),
  isDone: (s) => hand.isDone(s),
});
const events = { onPoint: light, onPick: pick };
const matrix = new Matrix(byId("matrix"), events);
const matrixB = new Matrix(byId("matrix-b"), events);
const bands = new Bands(byId("bands"), events);
const figure = new Figure(byId("figure"), events);

// What a drawing of one system needs to know.
function viewOf(system, tag) {
  return {
    system,
    tag: isCompared() ? tag : "",
    threshold: state.threshold,
    isChange: state.isChange,
    compared: isCompared() ? [state.a, state.b] : null,
    other: isCompared() ? (tag === "A" ? state.b : state.a) : null,
    gold: hand.gold(state.s),
  };
}

// Whether two systems are shown.
function isCompared() {
  return state.b !== NO_SYSTEM;
}

function shownSystems() {
  return isCompared() ? [[state.a, "A"], [state.b, "B"]] : [[state.a, "A"]];
}

// Draws the sentence in the chosen view.
function draw() {
  byId("matrix").hidden = state.view !== "matrix";
  byId("matrix-b").hidden = state.view !== "matrix" || !isCompared();
  byId("bands").hidden = state.view !== "bands";
  byId("figure").hidden = state.view !== "figure";
  if (state.view === "matrix") drawMatrices();
  else if (state.view === "bands") bands.draw(state.s, shownSystems().map(([system, tag]) => viewOf(system, tag)));
  else figure.draw(state.s, viewOf(state.a, ""));
  light(...state.lit);
}

function drawMatrices() {
  const size = cellSize();
  matrix.build(state.s, size, isCompared() ? "A" : "");
  matrix.mark(viewOf(state.a, "A"));
  matrix.point(state.isEditing ? state.cursor : null);
  if (!isCompared()) return;
  matrixB.build(state.s, size, "B");
  matrixB.mark(viewOf(state.b, "B"));
}

// Pixels of a cell: as large as the room allows, within what can be read and touched.
function cellSize() {
  if (state.isEditing && matchMedia("(pointer: coarse)").matches) return 40;
  const { src, tgt } = sentences[state.s];
  const { clientWidth, clientHeight } = byId("drawing");
  const isStacked = matchMedia("(max-width: 800px)").matches; // the height then follows from the drawing
  const room = clientWidth / (isCompared() && !isStacked ? 2 : 1) - 150;
  const depth = isStacked ? Infinity : Math.max(clientHeight - 130, 300);
  const fitting = Math.floor(Math.min(room / Math.max(tgt.length, 1), depth / Math.max(src.length, 1)));
  return Math.min(Math.max(fitting, 22), 42);
}

// Numbers, links as text, curve and list follow the threshold, the systems and the gold.
function drawPanel() {
  const gold = hand.gold(state.s);
  const rows = shownSystems().flatMap(([system, tag], at) => {
    const suffix = at === 0 ? "" : "-b";
    const here = linksOf(state.s, system, state.threshold).length;
    const all = totalsOf(system).above(state.threshold);
    const isScored = totalsOf(system).sentences > 0 && system !== NO_SYSTEM;
    const mark = isCompared() ? tag : "";
    const hereValues = gold && system !== NO_SYSTEM ? measure(count(state.s, system, state.threshold, gold)) : null;
    const allValues = isScored ? measure(all) : null;
    return [
      { of: `sentence${suffix}`, title: "sentence", tag: mark, links: here, values: hereValues },
      { of: `all${suffix}`, title: "all", tag: mark, links: isScored ? all.links : "–", values: allValues },
    ];
  });
  drawNumbers(byId("numbers"), rows, goldNote());
  drawLinks(state.s, linksOf(state.s, state.a, state.threshold), state.a, gold);
  const curves = shownSystems().filter(([system]) => totalsOf(system).sentences > 0 && system !== NO_SYSTEM);
  drawCurve(byId("curve"), curves.map(([system, tag]) => (
    { totals: totalsOf(system), scored: system.scored, tag: tag.toLowerCase() }
  )), state.threshold, setThreshold);
  announce();
}

function goldNote() {
  const n = totalsOf(state.a).sentences;
  const byHand = hand.entries.size;
  if (state.a === NO_SYSTEM) return "Gold links alone: there are no links of a system to score.";
  if (n === 0) return "No gold: correct sentences by hand and mark them as done, to see how good the links are.";
  const against = data.gold === null ? "sentences done by hand" : fileName(data.gold);
  const changed = data.gold !== null && byHand > 0 ? `, ${byHand} of them changed by hand` : "";
  return `In percent, against ${against}: ${numberOf(n, "sentence")}${changed}.`;
}

const announce = whenQuiet(() => {
  const gold = state.a === NO_SYSTEM ? null : hand.gold(state.s);
  const links = numberOf(linksOf(state.s, state.a, state.threshold).length, "link");
  const error = gold && `, AER ${percent(measure(count(state.s, state.a, state.threshold, gold)).aer)}`;
  byId("says").textContent =
    `Sentence ${lineOf(state.s)}, threshold ${decimal(state.threshold, 4)}: ${links}${error ?? ""}`;
}, 600);

// Brings the list into order again where its order depends on the threshold, the systems or gold.
function sortAgain() {
  if (list.by === "error" || list.by === "disagreement") list.sort(list.by);
}

// Everything that depends on the threshold, once for each picture.
const drawThreshold = oncePerFrame(() => {
  draw();
  drawPanel();
  list.draw();
});

function setThreshold(threshold) {
  state.threshold = Math.min(Math.max(Math.round(threshold), 0), SCALE);
  byId("threshold").value = state.threshold / SCALE;
  byId("threshold-number").value = decimal(state.threshold, 4);
  drawThreshold();
}

// Shows a sentence; s counts from 0.
function showSentence(s) {
  state.s = s;
  state.cursor = sentences[s].src.length && sentences[s].tgt.length ? { i: 0, j: 0 } : null;
  const { src, tgt } = sentences[s];
  byId("place").textContent = data.first === 1 ? `${s + 1} of ${sentences.length}` : `Line ${lineOf(s)}`;
  byId("source-text").replaceChildren(...src.flatMap((text, i) => [word(text, { "data-i": i }), " "]));
  byId("target-text").replaceChildren(...tgt.flatMap((text, j) => [word(text, { "data-j": j }), " "]));
  for (const id of ["matrix", "matrix-b", "bands", "figure"]) {
    byId(id).setAttribute("aria-label", `Drawing of sentence ${lineOf(s)}: ${numberOf(src.length, "source word")},`
      + ` ${numberOf(tgt.length, "target word")}. The links stand as text in the list of links.`);
  }
  byId("done").checked = hand.isDone(s);
  state.lit = [-1, -1];
  draw();
  drawPanel();
  list.show(s);
}

// Lights a row and a column in every drawing and in the text; -1 stands for none.
function light(i, j) {
  state.lit = [i, j];
  if (state.view === "matrix") {
    matrix.light(i, j);
    if (isCompared()) matrixB.light(i, j);
  } else if (state.view === "bands") bands.light(i, j);
  else figure.light(i, j);
  for (const node of byId("main").querySelectorAll(".on[data-i], .on[data-j]")) node.classList.remove("on");
  for (const node of byId("main").querySelectorAll(`[data-i="${i}"], [data-j="${j}"]`)) node.classList.add("on");
  drawReadout(byId("readout"), state.s, i, j, hand.gold(state.s));
}

function pick(i, j) {
  if (!state.isEditing) return light(i, j);
  state.cursor = { i, j };
  hand.cycle(state.s, i, j);
  afterEdit();
  light(i, j);
}
