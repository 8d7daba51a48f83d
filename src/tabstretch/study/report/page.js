// Sorts and filters the tables. Without it they are plain tables, so every control is made here.
"use strict";

const valueOf = (row, place, isNumber) => {
  const cell = row.cells[place];
  if (!isNumber) return cell.textContent.trim().toLowerCase();
  return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
};

const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));

// Rows by the entries of a column; those without a value stay last in both directions.
const sorted = (rows, place, isNumber, direction) => {
  const keyed = rows.map((row) => [valueOf(row, place, isNumber), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * compare(a, b);
  });
  return keyed.map(([, row]) => row);
};

const makeSortable = (table) => {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const isNumber = head.classList.contains("number");
    const order = isNumber ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.title = "Sort";
    head.textContent = "";
    head.append(button);
    button.addEventListener("click", () => {
      const next = order[(order.indexOf(head.getAttribute("aria-sort")) + 1) % order.length];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (next !== "none") head.setAttribute("aria-sort", next);
      const direction = next === "ascending" ? 1 : -1;
      body.append(...(next === "none" ? original : sorted(original, place, isNumber, direction)));
    });
  });
};

const labelled = (text, control) => {
  const label = document.createElement("label");
  label.append(text, control);
  return label;
};

const chooser = (rows, place) => {
  const entries = [...new Set(rows.map((row) => row.cells[place].textContent.trim()))];
  if (entries.length < 2) return null;
  const select = document.createElement("select");
  select.append(new Option("all", "all-rows"), ...entries.map((entry, number) => new Option(entry || "–", String(number))));
  select.dataset.place = String(place);
  select.entries = entries;
  return select;
};

const makeFilterable = (table) => {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 8) return; // all in sight anyway
  const tools = document.createElement("div");
  tools.className = "tools";
  const heads = [...table.tHead.rows[0].cells];
  const selects = heads
    .map((head, place) => ("choose" in head.dataset ? [head.textContent, chooser(rows, place)] : [null, null]))
    .filter(([, select]) => select !== null);
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "words in a row";
  const count = document.createElement("output");
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, number) => {
      const chosen = selects.every(
        ([, select]) =>
          select.value === "all-rows" ||
          row.cells[Number(select.dataset.place)].textContent.trim() === select.entries[Number(select.value)],
      );
      row.hidden = !(chosen && words.every((word) => texts[number].includes(word)));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
  };
  tools.append(...selects.map(([title, select]) => labelled(title, select)), labelled("Filter", input), count);
  tools.addEventListener("input", apply);
  table.closest(".scroll").before(tools);
  apply();
};

for (const table of document.querySelectorAll("table.sheet")) {
  makeFilterable(table);
  makeSortable(table);
}

// Paper cannot be unfolded.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
