"use strict";
(() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const said = document.getElementById("said");

  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const toggle = document.getElementById("theme");
  const showTheme = () => { toggle.textContent = isDark() ? "Light theme" : "Dark theme"; };
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  dark.addEventListener("change", showTheme);
  toggle.hidden = false;
  showTheme();

  const key = (row, place) => {
    const cell = row.cells[place];
    const given = cell.dataset.value;
    return given === undefined ? cell.textContent.trim() : given === "" ? NaN : Number(given);
  };
  const compare = (a, b) => {
    if (typeof a === "string" || typeof b === "string") {
      return String(a).localeCompare(String(b), undefined, { numeric: true });
    }
    return a - b;
  };
  const sort = (table, place, rising) => {
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows, (row) => [key(row, place), row]);
    keyed.sort(([a], [b]) => {
      const aLast = Number.isNaN(a), bLast = Number.isNaN(b);
      if (aLast || bLast) { return aLast - bLast; }
      return rising ? compare(a, b) : compare(b, a);
    });
    body.append(...keyed.map(([, row]) => row));
  };

  const makeSortable = (table) => {
    const heads = Array.from(table.tHead.rows[0].cells);
    if (!table.matches(".upset, .columns")) {  // on a narrow window each row becomes a card
      table.classList.add("stacked");
      for (const row of table.tBodies[0].rows) {
        Array.from(row.cells).forEach((cell, place) => {
          if (cell.tagName === "TD") { cell.dataset.label = heads[place].textContent; }
        });
      }
    }
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const falling = before === "ascending" || (before === "none" && head.classList.contains("n"));
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        sort(table, place, !falling);
        said.textContent = `Sorted by ${button.textContent}, ${falling ? "descending" : "ascending"}`;
      });
    });
  };
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  // Tables that a script adds later tell of themselves.
  document.addEventListener("greyfill:tables", (event) => {
    const added = event.target;
    [...(added.matches("table.sortable") ? [added] : []), ...added.querySelectorAll("table.sortable")].forEach(makeSortable);
  });

  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
  });
})();
