// The tables of a comparison of runs: a row a run, and how far the links of each two agree.
"use strict";

// Draws the systems that a cell of a table stands for, side by side.
function showSystems(a, b) {
  byId("system-a").value = a.id;
  byId("system-b").value = b.id;
  setSystems();
  sortAgain();
  byId("comparison").close();
}

// A button for a cell that stands for two systems; other cells are text.
function tableCell(text, a, b) {
  if (text === "" || a === NO_SYSTEM || b === NO_SYSTEM || a === b) return text;
  const label = `${text}, show ${a.label} and ${b.label}`;
  const button = html("button", { class: "quiet", "aria-label": label, title: label }, text);
  button.addEventListener("click", () => showSystems(a, b));
  return button;
}

function tableOf([head, ...rows]) {
  const named = (name) => systems.find((system) => system.file >= 0 && system.label === name) ?? NO_SYSTEM;
  const heads = head.map((text) => (text ? html("th", { scope: "col" }, text) : html("td")));
  const body = rows.map(([name, ...cells]) => html(
    "tr", {}, html("th", { scope: "row" }, name),
    ...cells.map((text, at) => html("td", {}, tableCell(text, named(name), named(head[at + 1])))),
  ));
  return html("table", {}, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...body));
}

function fillTables() {
  byId("comparison-open").hidden = data.tables.length === 0;
  byId("comparison-tables").append(...data.tables.map(tableOf));
}
