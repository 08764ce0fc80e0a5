// What buttons and fields do; the last file of the page, which starts it.
"use strict";

// Shows a sentence by its address, so that the way back is the browser's.
function go(s) {
  if (s >= 0 && s !== state.s) location.hash = `#${lineOf(s)}`;
}

// The sentence of the address, counted from 0; -1 if the address names none.
function sentenceOfAddress() {
  const line = /^#(\d+)$/.exec(location.hash)?.[1];
  const s = line === undefined ? -1 : Number(line) - data.first;
  return s < sentences.length ? s : -1;
}

// Says which lines the page has, if the address asks for another one.
function sayWhatIsThere() {
  if (sentenceOfAddress() >= 0 || !/^#\d+$/.test(location.hash)) return;
  notice(`The page has no line ${location.hash.slice(1)}: it has lines ${lineOf(0)} to ${lineOf(sentences.length - 1)}.`);
}

function setView(view) {
  if (view !== "matrix") setEditing(false);
  state.view = view;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === view));
  }
  state.lit = [-1, -1];
  draw();
}

function setSystems() {
  state.a = systemOf(byId("system-a").value);
  state.b = systemOf(byId("system-b").value);
  byId("change-line").hidden = !state.a.before && !state.b.before;
  byId("sort").querySelector("[value=disagreement]").disabled = state.b === NO_SYSTEM;
  if (state.b === NO_SYSTEM && list.by === "disagreement") {
    byId("sort").value = "line";
    list.sort("line");
  }
  drawThreshold();
}

// Choices of systems in groups: after projection, before it, link files.
function fillSystems(select, hasNone) {
  if (hasNone) select.append(html("option", { value: "" }, "none"));
  const projection = data.model?.projection ?? "none";
  const groups = [
    [projection === "none" ? "Model" : `After projection (${projection})`, (x) => x.column >= 0 && !x.isBefore],
    ["Before projection", (x) => x.isBefore],
    ["Link files", (x) => x.file >= 0],
  ];
  for (const [label, belongs] of groups) {
    const options = systems.filter(belongs).map(({ id, label: text }) => html("option", { value: id }, text));
    if (options.length > 0) select.append(html("optgroup", { label }, ...options));
  }
}

function openSearch() {
  openDrawer(true);
  byId("search").focus();
  byId("search").select();
}

// The list of sentences on a narrow screen.
function openDrawer(isOpen) {
  document.body.classList.toggle("drawer", isOpen);
  byId("menu").setAttribute("aria-expanded", String(isOpen));
}

async function copyLinks() {
  const text = pharaoh(linksOf(state.s, state.a, state.threshold));
  if (text === "") return notice(`Sentence ${lineOf(state.s)} has no links to copy.`);
  try {
    await navigator.clipboard.writeText(text);
    notice(`Copied the links of sentence ${lineOf(state.s)}.`);
  } catch {
    byId("pharaoh").value = text;
    byId("copying").showModal();
    byId("pharaoh").select();
  }
}

function setEditing(isEditing) {
  state.isEditing = isEditing;
  byId("edit").setAttribute("aria-checked", String(isEditing));
  document.body.classList.toggle("editing", isEditing);
  if (isEditing && state.view !== "matrix") setView("matrix");
  afterEdit();
  if (isEditing) byId("matrix").focus({ preventScroll: true });
}

// Gold changed: squares, numbers, list and the bar of editing follow.
function afterEdit() {
  totals.clear();
  byId("editing").hidden = !state.isEditing && hand.entries.size === 0;
  byId("undo").disabled = hand.steps.length === 0;
  byId("reset").disabled = !hand.entries.has(state.s);
  byId("done").checked = hand.isDone(state.s);
  const [n, done] = [hand.entries.size, hand.doneSentences().length];
  byId("edited").textContent = n === 0 ? "" : `${n} annotated, ${done} done`;
  byId("export-done").disabled = done === 0;
  drawThreshold();
}

function undo() {
  const s = hand.undo();
  if (s === undefined) return notice("There is nothing to undo.");
  go(s);
  afterEdit();
}

function moveCursor(down, right) {
  const { src, tgt } = sentences[state.s];
  const i = Math.min(Math.max(state.cursor.i + down, 0), src.length - 1);
  const j = Math.min(Math.max(state.cursor.j + right, 0), tgt.length - 1);
  state.cursor = { i, j };
  matrix.point(state.cursor);
  light(i, j);
  sayCell(i, j);
}

function setCell(kind) {
  const { i, j } = state.cursor;
  hand.set(state.s, i, j, kind);
  afterEdit();
  light(i, j);
  sayCell(i, j);
}

function sayCell(i, j) {
  const kind = hand.gold(state.s)?.get(codeOf(state.s, i, j));
  const name = KINDS[kind] ?? "no link";
  byId("says").textContent = `${sentences[state.s].src[i]} – ${sentences[state.s].tgt[j]}, ${name}`;
}

function exportDone() {
  const chosen = hand.doneSentences();
  download("done.gold", goldFile(hand, chosen));
  download("done.src", textFile("src", chosen));
  download("done.tgt", textFile("tgt", chosen));
}

async function importFile(event) {
  const file = event.target.files[0];
  event.target.value = "";
  if (file === undefined) return;
  try {
    const changes = readGoldFile(hand, await file.text());
    if (changes.length > 0) hand.step(changes);
    notice(`${file.name}: ${numberOf(changes.length, "sentence")} changed.`);
    afterEdit();
  } catch (error) {
    notice(`${file.name}: ${error.message}`, true);
  }
}

// Colours: as the system has them, light, or dark.
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme-name").textContent = theme;
  kept.write("aligner:theme", theme);
}

function nextTheme() {
  const themes = ["auto", "light", "dark"];
  setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]);
}

// The row and the column that a place of the text stands for: a link of the lists, or a word of the sentence.
function cellOfText(place) {
  const held = place.closest("[data-link], [data-i], [data-j]")?.dataset ?? {};
  return held.link ? cellNamed(held.link) : [Number(held.i ?? -1), Number(held.j ?? -1)];
}

function connect() {
  const on = (id, name, action) => byId(id).addEventListener(name, action);
  on("search", "input", () => list.search(byId("search").value));
  on("sort", "change", () => list.sort(byId("sort").value));
  on("list", "click", () => openDrawer(false));
  on("menu", "click", () => openDrawer(!document.body.classList.contains("drawer")));
  for (const id of ["main", "panel"]) on(id, "click", () => openDrawer(false));
  on("previous", "click", () => go(list.neighbour(-1)));
  on("next", "click", () => go(list.neighbour(1)));
  on("theme", "click", nextTheme);
  on("comparison-open", "click", () => byId("comparison").showModal());
  on("help-open", "click", () => byId("help").showModal());
  on("threshold", "input", () => setThreshold(byId("threshold").value * SCALE));
  on("threshold", "change", sortAgain);
  on("threshold-number", "change", () => {
    const { value } = byId("threshold-number");
    setThreshold(value === "" ? state.threshold : value * SCALE); // what is no number changes nothing
    sortAgain();
  });
  on("model-threshold", "click", () => { setThreshold(data.model.threshold); sortAgain(); });
  for (const id of ["system-a", "system-b"]) on(id, "change", () => { setSystems(); sortAgain(); });
  on("change", "change", () => { state.isChange = byId("change").checked; drawThreshold(); });
  on("copy", "click", copyLinks);
  on("edit", "click", () => setEditing(!state.isEditing));
  on("undo", "click", undo);
  on("done", "change", () => { hand.setDone(state.s, byId("done").checked); afterEdit(); });
  on("start", "click", () => { hand.start(state.s, linksOf(state.s, state.a, state.threshold)); afterEdit(); });
  on("reset", "click", () => { hand.reset(state.s); afterEdit(); });
  on("export", "click", () => download(`${fileName(data.src)}.gold`, goldFile(hand, sentences.map((_, s) => s))));
  on("export-done", "click", exportDone);
  on("import", "change", importFile);
  on("notice", "click", () => notice(""));
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => setView(button.dataset.view));
  }
  for (const id of ["links", "missed", "sentence"]) {
    on(id, "pointerover", (event) => light(...cellOfText(event.target)));
    on(id, "pointerleave", () => light(-1, -1));
  }
  for (const [from, to] of [["matrix", "matrix-b"], ["matrix-b", "matrix"]]) {
    on(from, "scroll", () => byId(to).scrollTo(byId(from).scrollLeft, byId(from).scrollTop));
  }
  addEventListener("hashchange", () => {
    if (sentenceOfAddress() >= 0) showSentence(sentenceOfAddress());
    else sayWhatIsThere();
  });
  addEventListener("storage", ({ key }) => {
    if (key !== hand.key) return;
    hand.load();
    afterEdit();
  });
  addEventListener("resize", drawThreshold);
}

function start() {
  document.title = data.title;
  byId("title").textContent = data.title;
  byId("about").textContent = [data.model?.name, data.gold].filter(Boolean).map(fileName).join(" · ");
  fillSystems(byId("system-a"), systems.length === 0);
  fillSystems(byId("system-b"), true);
  fillTables();
  byId("system-a").value = state.a.id;
  byId("model-threshold").hidden = data.model === null;
  byId("threshold-part").hidden = !systems.some((system) => system.scored);
  byId("start").disabled = systems.length === 0;
  byId("copy").hidden = systems.length === 0;
  byId("sort").querySelector("[value=score]").disabled = data.model === null;
  byId("sort").querySelector("[value=error]").disabled = systems.length === 0;
  if (data.model !== null) byId("model-threshold").textContent = `model’s ${decimal(data.model.threshold, 4)}`;
  document.querySelector("[data-view=figure]").hidden = !HAS_DIRECTIONS;
  setTheme(kept.read("aligner:theme") ?? "auto");
  if (sentences.length === 0) return notice("The page has no sentences.", true);
  connect();
  list.search("");
  showSentence(Math.max(sentenceOfAddress(), 0));
  setSystems();
  setThreshold(state.threshold);
  afterEdit();
  sayWhatIsThere();
}

start();
