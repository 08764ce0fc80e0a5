// Keys, and the help that lists them.
"use strict";

// key -> [what it does, action]; keys of one action stand together for the help
const KEYS = [
  [["j", "ArrowDown"], "next sentence", () => go(list.neighbour(1))],
  [["k", "ArrowUp"], "previous sentence", () => go(list.neighbour(-1))],
  [["ArrowLeft"], "lower threshold", () => setThreshold(state.threshold - STEP)],
  [["ArrowRight"], "higher threshold", () => setThreshold(state.threshold + STEP)],
  [["/"], "search", () => openSearch()],
  [["m"], "matrix", () => setView("matrix")],
  [["b"], "bands", () => setView("bands")],
  [["a"], "all directions, before and after projection", () => HAS_DIRECTIONS && setView("figure")],
  [["t"], "tables of the runs that are compared", () => data.tables.length && byId("comparison").showModal()],
  [["c"], "copy the links as Pharaoh text", () => copyLinks()],
  [["e"], "correct by hand", () => setEditing(!state.isEditing)],
  [["u"], "undo a correction", () => undo()],
  [["d"], "mark the sentence as done, while editing", () => state.isEditing && byId("done").click()],
  [["?"], "this help", () => byId("help").showModal()],
];

// Keys of the cell cursor, while editing and with the focus in the matrix.
const CELL_KEYS = {
  ArrowDown: () => moveCursor(1, 0),
  ArrowUp: () => moveCursor(-1, 0),
  ArrowRight: () => moveCursor(0, 1),
  ArrowLeft: () => moveCursor(0, -1),
  s: () => setCell(1),
  p: () => setCell(0),
  x: () => setCell(undefined),
  Enter: () => pick(state.cursor.i, state.cursor.j),
  " ": () => pick(state.cursor.i, state.cursor.j),
  Escape: () => byId("matrix").blur(),
};

const CELL_HELP = "while editing, in the matrix: arrows move, s sure, p possible, x none, Enter the next of them,"
  + " Escape leaves the matrix";

const KEY_NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };

const SIGNS = [
  ["●", "a link: its posterior is above the threshold; the area of the disc is the posterior"],
  ["○", "pale: below the threshold"],
  ["▣", "square with a border: a sure link of gold"],
  ["■", "square without a border: a possible link of gold"],
  ["┄", "bands: dashed is a link that gold does not have, dotted a sure link that is missed"],
  ["+ −", "growth and loss: projection made the posterior larger (blue) or smaller (orange); the ring is what it was"],
  ["◤ ◢", "two systems: only A (blue, upper left) or only B (orange, lower right) has the link"],
];

// Whether a key belongs to the field that has the focus.
function isTyping(event) {
  const field = event.target.closest("input, select, textarea, button, a, dialog[open]");
  if (field === null) return false;
  if (["BUTTON", "A"].includes(field.tagName) || field.type === "checkbox") return [" ", "Enter"].includes(event.key);
  return field.type !== "range" || event.key.startsWith("Arrow");
}

function onKey(event) {
  if (event.key === "Escape") openDrawer(false);
  if (event.altKey || event.metaKey || event.ctrlKey || isTyping(event)) return;
  const inMatrix = state.isEditing && state.cursor !== null && document.activeElement === byId("matrix");
  const action = (inMatrix && CELL_KEYS[event.key]) || KEYS.find(([keys]) => keys.includes(event.key))?.[2];
  if (action === undefined) return;
  event.preventDefault();
  action();
}

function fillHelp() {
  for (const [keys, text] of KEYS) {
    const names = keys.flatMap((key) => [html("kbd", {}, KEY_NAMES[key] ?? key), " "]);
    byId("help-keys").append(html("dt", {}, ...names), html("dd", {}, text));
  }
  byId("help-keys").append(html("dt", {}, html("kbd", {}, "s p x")), html("dd", {}, CELL_HELP));
  for (const [sign, text] of SIGNS) byId("help-signs").append(html("dt", {}, sign), html("dd", {}, text));
  const model = data.model === null ? "" : ` Model ${data.model.name}: ${data.model.signature}.`;
  byId("help-page").textContent = `Made by aligner ${data.version} from ${data.src} and ${data.tgt}.${model}`
    + " The page asks nothing of the network."
    + " Corrections are kept by this browser: export them to keep them elsewhere.";
}

document.addEventListener("keydown", onKey);
fillHelp();
