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

  // What a place of a plot tells: under the pointer, or by arrows where the plot has the focus.
  const box = document.createElement("div");
  box.className = "told-here";
  box.hidden = true;
  box.setAttribute("aria-hidden", "true");  // the status says the same
  document.body.append(box);
  let here = null;
  const hide = () => {
    box.hidden = true;
    if (here) { here.classList.remove("here"); here = null; }
  };
  const tellAt = (place, words) => {
    const at = place.getBoundingClientRect();
    box.textContent = words;
    box.hidden = false;
    const left = at.left + at.width / 2 - box.offsetWidth / 2;
    box.style.left = `${Math.max(4, Math.min(left, root.clientWidth - box.offsetWidth - 4))}px`;
    box.style.top = `${at.top - box.offsetHeight - 6 > 0 ? at.top - box.offsetHeight - 6 : at.bottom + 6}px`;
  };
  const tell = (tip) => {
    hide();
    here = tip;
    tip.classList.add("here");
    tellAt(tip, tip.dataset.tip);
  };
  // A brush over the points of a plot: dragged, or drawn by arrows with Shift.
  const brush = (svg, first, last) => {
    const tips = Array.from(svg.querySelectorAll("circle.tip"));
    const [a, b] = [first, last].sort((x, y) => x - y);
    const within = tips.filter((tip) => {
      const inside = tip.cx.baseVal.value >= a && tip.cx.baseVal.value <= b;
      tip.classList.toggle("within", inside);
      return inside;
    });
    if (!within.length) { hide(); return; }
    const missed = within.filter((tip) => tip.matches(".miss")).length;
    const words = `${within.length} of ${tips.length} cells; limits hold ${within.length - missed}, miss ${missed}`;
    tellAt(svg, words);
    said.textContent = words;
  };
  const clear = (svg) => svg.querySelectorAll(".within").forEach((tip) => tip.classList.remove("within"));
  const makeTold = (svg) => {
    const tips = Array.from(svg.querySelectorAll(".tip"));
    if (!tips.length) { return; }
    for (const tip of tips) {  // the titles are for pages whose script does not run
      tip.dataset.tip = tip.querySelector("title").textContent;
      tip.replaceChildren();
    }
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("aria-description", "Arrow keys tell its values one by one.");
    let start = null, anchor = null;
    const isBrushed = svg.closest("#overimputed") !== null && svg.querySelector("circle.tip") !== null;
    const across = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
    svg.addEventListener("pointerover", (event) => { if (start === null && event.target.matches(".tip")) { tell(event.target); } });
    svg.addEventListener("pointerleave", () => { if (start === null) { hide(); } });
    svg.addEventListener("blur", () => { hide(); clear(svg); anchor = null; });
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") { hide(); clear(svg); anchor = null; }
      if (!step) { return; }
      event.preventDefault();
      const now = tips.indexOf(here), next = tips[Math.max(0, Math.min(tips.length - 1, now < 0 ? 0 : now + step))];
      tell(next);
      said.textContent = next.dataset.tip;
      if (event.shiftKey && isBrushed) {
        anchor = anchor || tips[Math.max(now, 0)];
        brush(svg, anchor.cx.baseVal.value, next.cx.baseVal.value);
      } else { clear(svg); anchor = null; }
    });
    if (!isBrushed) { return; }
    svg.classList.add("brushed");
    svg.addEventListener("pointerdown", (event) => { start = across(event); clear(svg); svg.setPointerCapture(event.pointerId); });
    svg.addEventListener("pointermove", (event) => { if (start !== null) { brush(svg, start, across(event)); } });
    svg.addEventListener("pointerup", () => { start = null; });
  };

  // A column under the pointer, or with the focus, is marked wherever it is shown.
  const mark = (event) => {
    const from = event.target.closest && event.target.closest("[data-column]");
    const name = from ? from.dataset.column : null;
    document.querySelectorAll("[data-column]").forEach((part) => part.classList.toggle("same", part.dataset.column === name));
  };
  document.addEventListener("pointerover", mark);
  document.addEventListener("focusin", mark);

  const prepare = (part) => {
    [...(part.matches("table.sortable") ? [part] : []), ...part.querySelectorAll("table.sortable")].forEach(makeSortable);
    part.querySelectorAll("svg[role=img]").forEach(makeTold);
  };
  prepare(document.body);
  // Parts that a script adds later tell of themselves.
  document.addEventListener("greyfill:tables", (event) => prepare(event.target));

  // Paper shows folded tables, but not what is folded within a cell: donors alone fill ten sheets.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")].filter((part) => !part.closest("td"));
    folded.forEach((part) => { part.open = true; });
  });
  window.addEventListener("afterprint", () => { folded.forEach((part) => { part.open = false; }); });
})();
