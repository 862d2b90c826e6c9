"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const main = $("main"), actions = $("actions"), said = $("said");
  const say = (text) => { said.textContent = text; };

  // Elements from plain objects; texts are set as texts, so nothing of a table is ever markup.
  const SVG = new Set(["svg", "rect", "line", "circle"]);
  const el = (tag, given = {}, ...children) => {
    const made = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined || value === null || value === false) { continue; }
      if (name.startsWith("on")) { made.addEventListener(name.slice(2), value); }
      else if (name in made && !SVG.has(tag) && name !== "list") { made[name] = value; }
      else { made.setAttribute(name, value === true ? "" : value); }
    }
    made.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
    return made;
  };
  const bdi = (text, given = {}) => el("bdi", given, text);
  const count = (n) => n.toLocaleString("en-US");
  const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + "s"}`;
  const share = (x) => x === 0 ? "0\u00a0%" : x < 0.001 ? "<0.1\u00a0%" : `${(100 * x).toFixed(1)}\u00a0%`;
  const short = (text, most = 60) => text.length > most ? text.slice(0, most - 1) + "…" : text;

  class Refused extends Error {}
  const call = async (method, path, body, headers = {}) => {
    const isPlain = body !== undefined && !(body instanceof Blob);
    let answer;
    try {
      answer = await fetch(path, {
        method, headers: isPlain ? { "Content-Type": "application/json", ...headers } : headers,
        body: isPlain ? JSON.stringify(body) : body, credentials: "same-origin",
      });
    } catch {
      throw new Refused("The page lost its server. Was it closed in the terminal? Start it again: greyfill app");
    }
    const told = await answer.json().catch(() => ({}));
    if (!answer.ok) { throw new Refused(told.error || `The server answered ${answer.status}.`); }
    return told;
  };

  let current = null;  // the table on the page: { id, name, look, filled, view }
  const api = (path) => `/api/tables/${current.id}${path}`;
  const showError = (error, where = main) => {
    const text = error instanceof Refused ? error.message : `Something went wrong on the page: ${error.message}`;
    where.querySelectorAll(":scope > .message.error").forEach((old) => old.remove());
    where.prepend(el("div", { className: "message error", role: "alert", tabIndex: -1 }, text));
    where.firstChild.focus();
  };
  const guarded = (work) => async (...given) => {
    try { return await work(...given); } catch (error) { showError(error); return undefined; }
  };
  const setActions = (...children) => {
    actions.replaceChildren(el("div", { className: "inner" }, ...children));
    actions.hidden = children.length === 0;
  };

  // ---- start ---------------------------------------------------------------------------------
  const showStart = guarded(async () => {
    current = null;
    $("where").textContent = "";
    document.title = "greyfill";
    setActions();
    const state = await call("GET", "/api/state");
    const input = el("input", { type: "file", id: "file", onchange: () => input.files[0] && upload(input.files[0]) });
    const zone = el("div", { className: "drop" },
      el("p", { className: "big" }, "Drop a table here"),
      el("p", { className: "hint" }, "CSV, Excel, Parquet, JSON, ARFF, SPSS, Stata, SAS. It stays on this computer."),
      el("p", {}, input, el("label", { className: "button primary", htmlFor: "file" }, "Choose a file")));
    for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
      zone.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.toggle("over", over);
        if (name === "drop" && event.dataTransfer.files[0]) { upload(event.dataTransfer.files[0]); }
      });
    }
    const card = (title, text, ...buttons) => el("li", {}, el("h3", {}, bdi(title)), el("p", {}, text), el("div", { className: "row" }, buttons));
    main.replaceChildren(...[
      el("h1", {}, "Fill the holes in a table"),
      el("p", { className: "lead" }, "See what is missing, fill it, and see how far the fills can be trusted."),
      zone,
      state.tables.length ? el("section", {}, el("h2", {}, "Open tables"), el("ul", { className: "cards" }, state.tables.map((t) =>
        card(t.name, { open: "read", filling: "being filled", filled: "filled" }[t.state],
          el("button", { type: "button", onclick: () => go(t.id) }, "Go on"),
          el("button", { type: "button", onclick: guarded(async () => { await call("DELETE", `/api/tables/${t.id}`); showStart(); }) }, "Forget"))))) : null,
      el("section", {}, el("h2", {}, "Or try one of these"), el("ul", { className: "cards" }, state.bundled.map((t) =>
        card(t.name, t.description.split(/(?<=[a-z]\.) /)[0], el("button", { type: "button", onclick: guarded(async () => go((await call("POST", `/api/bundled/${t.name}`, {})).id)) }, `Open ${t.name}`))))),
    ].filter(Boolean));
  });

  const upload = guarded(async (file) => {
    main.replaceChildren(el("p", { className: "loading", role: "status" }, "Taking ", bdi(file.name), " …"));
    try {
      go((await call("POST", "/api/tables", file, { "X-Name": encodeURIComponent(file.name) })).id);
    } catch (error) { await showStart(); throw error; }
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.target.closest(".drop") && event.dataTransfer.files[0]) { upload(event.dataTransfer.files[0]); }
  });

  const go = (id) => { if (location.hash === `#${id}`) { open(id); } else { location.hash = id; } };
  const open = guarded(async (id) => {
    let status;
    try { status = await call("GET", `/api/tables/${id}`); } catch (error) { history.replaceState(null, "", "/"); await showStart(); throw error; }
    current = { id, name: status.name, look: null, filled: null, reading: false };
    $("where").replaceChildren(bdi(status.name));
    document.title = `${status.name} – greyfill`;
    setActions();
    main.replaceChildren(el("p", { className: "loading", role: "status" }, "Reading ", bdi(status.name), " …"));
    if (status.state === "filling") { return watch(); }
    if (status.state === "filled") { return showFilled(); }
    return look();
  });

  // ---- look ----------------------------------------------------------------------------------
  const look = async (choices) => {
    const asked = current;
    try {
      main.setAttribute("aria-busy", "true");
      const found = await call("POST", api("/look"), choices ? { choices } : {});
      if (asked !== current) { return; }
      current.look = found;
      current.filled = null;
      showLook();
      say("The table was read.");
    } catch (error) {
      if (asked !== current) { return; }
      if (current.look) { showLook(); showError(error); return; }
      main.replaceChildren(el("h1", {}, bdi(current.name)), el("p", {}, el("button", { type: "button", onclick: () => { location.hash = ""; } }, "Choose another table")));
      showError(error);
    } finally { main.removeAttribute("aria-busy"); }
  };
  const choose = (change) => {
    const choices = structuredClone(current.look.choices);
    change(choices);
    const focused = document.activeElement && document.activeElement.id;
    const top = window.scrollY;
    look(choices).then(() => { if (focused && $(focused)) { $(focused).focus({ preventScroll: true }); } window.scrollTo(0, top); });
  };
  const toggle = (list, item, on) => {
    const place = list.indexOf(item);
    if (on && place < 0) { list.push(item); }
    if (!on && place >= 0) { list.splice(place, 1); }
  };

  // A question of the server: its answers are choices, of which one holds; the others are taken back.
  const answer = (question, n) => choose((c) => {
    for (const [name, value] of question.answers.flatMap((a) => a.set)) {
      if (Array.isArray(c[name])) { toggle(c[name], value, false); } else { c[name] = name === "strict" ? false : null; }
    }
    for (const [name, value] of question.answers[n].set) {
      if (Array.isArray(c[name])) { toggle(c[name], value, true); } else { c[name] = value; }
    }
  });
  const listed = (names, most = 4) => [el("b", {}, ...names.slice(0, most).flatMap((n, i) => [i ? ", " : "", bdi(short(n, 40))])), names.length > most ? ` and ${count(names.length - most)} more` : ""];
  const questionItem = (q, n) => {
    const id = `${q.of}-${n}`, isSwitch = q.on !== null;
    const now = q.answers[q.chosen].text;
    const words = [...(q.columns.length ? [...listed(q.columns), ": "] : []), q.of === "word" ? el("b", {}, bdi(q.text)) : bdi(q.text)];
    const more = q.cells ? ` (${plural(q.cells, "cell")})` : "";
    if (isSwitch) {
      return el("li", {},
        el("input", { type: "checkbox", role: "switch", id, checked: q.chosen === q.on, onchange: (event) => answer(q, event.target.checked ? q.on : 1 - q.on) }),
        el("label", { htmlFor: id }, words, more, now === "so" ? null : [" ", el("span", { className: "now" }, `→ ${now}`)]));
    }
    const select = el("select", { id, onchange: () => answer(q, Number(select.value)) }, q.answers.map((a, i) => el("option", { value: i, selected: i === q.chosen }, short(a.text, 40))));
    return el("li", {}, el("label", { htmlFor: id }, words, more), select);
  };

  const strip = (codes) => {
    const svg = el("svg", { class: "strip", viewBox: `0 0 ${codes.length} 10`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (let i = 0; i < codes.length; i++) {
      const part = parseInt(codes[i], 16) / 15;
      if (part > 0) { svg.append(el("rect", { x: i, y: 0, width: 1.02, height: 10, "fill-opacity": 0.25 + 0.75 * part })); }
    }
    return svg;
  };
  const held = (c) => {
    const text = (v) => typeof v === "number" ? String(Math.abs(v) < 1000 ? Number(v.toPrecision(4)) : Math.round(v)) : v;
    if (c.low !== null) { return `${text(c.low)} … ${text(c.middle)} … ${text(c.high)}`; }
    return c.top.length && !c.left_alone ? c.top.map((t) => `${t.value} ${count(t.rows)}`).join(", ") : c.examples.join(", ");
  };
  const KINDS = [["auto", ""], ["categories", "categorical"], ["ordered", "ordinal"], ["number", "numeric"]];
  const columnRow = (c, n, chosen) => {
    const isIgnored = chosen.ignored.includes(c.name), isAlone = c.left_alone && !chosen.insisted.includes(c.name);
    const kind = ["categorical", "ordinal", "numeric"].find((k) => chosen[k].includes(c.name)) || "";
    const role = isIgnored ? "ignored" : chosen.not_applicable.includes(c.name) ? "not_applicable" : isAlone ? "alone" : chosen.insisted.includes(c.name) ? "insisted" : "fill";
    const label = short(c.name, 40);
    const kinds = el("select", { id: `kind-${n}`, "aria-label": `Kind of ${label}`, disabled: isIgnored,
      onchange: () => choose((x) => { for (const k of ["categorical", "ordinal", "numeric"]) { toggle(x[k], c.name, k === kinds.value); } }) },
    KINDS.map(([text, value]) => el("option", { value, selected: value === kind }, value ? text : `${c.kind || "auto"}`)));
    const roles = el("select", { id: `role-${n}`, "aria-label": `What to do with ${label}`,
      onchange: () => choose((x) => { for (const k of ["ignored", "not_applicable", "insisted"]) { toggle(x[k], c.name, k === roles.value); } if (roles.value === "ignored") { for (const k of ["categorical", "ordinal", "numeric"]) { toggle(x[k], c.name, false); } x.bounds = x.bounds.filter((b) => !b.startsWith(`${c.name}=`)); } }) },
    [["fill", c.holes ? "fill" : "use"], ["ignored", "leave alone"], ["not_applicable", "holes stay empty"], ...(isAlone ? [["alone", "left alone"]] : []), ...(c.left_alone ? [["insisted", "fill all the same"]] : [])]
      .filter(([v]) => !(isAlone && v === "fill")).map(([value, text]) => el("option", { value, selected: value === role }, text)));
    const given = chosen.bounds.find((b) => b.startsWith(`${c.name}=`));
    const [low, high] = given ? given.slice(c.name.length + 1).split(":") : ["", ""];
    const bound = (which, value) => el("input", { type: "number", step: "any", value, id: `${which}-${n}`, placeholder: which === "low" ? "min" : "max", "aria-label": `${which === "low" ? "Smallest" : "Largest"} fill of ${label}`,
      onchange: () => choose((x) => {
        x.bounds = x.bounds.filter((b) => !b.startsWith(`${c.name}=`));
        const [l, h] = [$(`low-${n}`).value, $(`high-${n}`).value];
        if (l || h) { x.bounds.push(`${c.name}=${l}:${h}`); }
      }) });
    const isNumber = c.kind === "numeric" && c.holes && !isIgnored && !isAlone;
    return el("tr", { className: `${isIgnored || isAlone ? "alone" : ""} ${c.holes ? "" : "complete"}` },
      el("th", { scope: "row" }, bdi(short(c.name), { title: c.name }), c.left_alone ? el("span", { className: "why" }, c.left_alone) : null),
      el("td", { className: "kind", "data-label": "kind" }, kinds),
      el("td", { className: "where-holes", "data-value": c.holes }, strip(c.strip)),
      el("td", { className: "n", "data-label": "holes", "data-value": c.holes }, count(c.holes)),
      el("td", { className: "n", "data-label": "share", "data-value": c.share }, share(c.share)),
      el("td", { className: "holds" }, bdi(short(held(c), 90))),
      current.look.target ? el("td", { className: "n bits", "data-label": "bits about the target", "data-value": c.bits === null ? "" : c.bits }, c.bits === null ? "–" : c.bits.toFixed(3)) : null,
      el("td", { className: "do", "data-label": "do" }, roles),
      el("td", { className: "limit", "data-label": isNumber ? "limits" : null }, isNumber ? el("span", { className: "limits" }, bound("low", low), "–", bound("high", high)) : null));
  };

  const showLook = () => {
    const look = current.look, chosen = look.choices;
    const isLeft = (c) => chosen.ignored.includes(c.name) || (c.left_alone && !chosen.insisted.includes(c.name)) || chosen.not_applicable.includes(c.name);
    const toFill = look.columns.filter((c) => c.holes && c.holes < look.rows && !isLeft(c));
    const holes = toFill.reduce((sum, c) => sum + c.holes, 0);
    const target = el("select", { id: "target", onchange: () => choose((c) => { c.target = target.value === "" ? null : look.all_columns[Number(target.value)]; for (const k of ["ignored", "categorical", "ordinal", "numeric", "insisted", "not_applicable"]) { if (c.target !== null) { toggle(c[k], c.target, false); } } }) },
      el("option", { value: "" }, "none"), look.all_columns.map((name, i) => el("option", { value: i, selected: name === look.target }, short(name))));
    const words = el("input", { type: "text", id: "words", placeholder: "? -999 unknown", autocomplete: "off", onchange: () => choose((c) => { for (const word of words.value.split(/[,\s]+/).filter(Boolean)) { toggle(c.na_values, word, true); } }) });
    const method = el("select", { id: "method", onchange: () => choose((c) => { c.method = method.value; }) },
      [["grey", "grey – tunes itself (recommended)"], ["cgknn", "cgknn – the paper’s, needs classes"], ["missforest", "missforest"], ["mice", "mice"], ["mean", "mean – only to compare"]].map(([v, t]) => el("option", { value: v, selected: v === chosen.method }, t)));
    const field = (input, title, hint) => el("div", { className: "field" }, el("label", { htmlFor: input.id }, title), input, el("p", { className: "hint" }, hint));
    const items = (...kinds) => look.questions.flatMap((q, n) => kinds.includes(q.of) ? [questionItem(q, n)] : []);
    const guesses = items("guess"), findings = items("finding", "word"), reading = items("file");
    const heads = [["Column", ""], ["Kind", ""], ["Where the holes are", ""], ["Holes", "n"], ["Share", "n"], ["What it holds", ""], ...(look.target ? [["Bits", "n"]] : []), ["Do", ""], ["Limits", ""]];
    const picture = el("table", { className: "columns sortable" },
      el("thead", {}, el("tr", {}, heads.map(([title, kind]) => el("th", { scope: "col", className: kind }, title)))),
      el("tbody", {}, look.columns.map((c, n) => columnRow(c, n, chosen))));
    const notes = look.notes;
    main.replaceChildren(...[
      el("h1", {}, bdi(current.name)),
      el("p", { className: "lead" }, el("strong", {}, plural(look.holes, "hole")), ` in ${plural(look.rows, "row")} of ${plural(look.n_columns, "column")} (${share(look.share)} of the cells); ${plural(look.rows_with_holes, "row")} ${look.rows_with_holes === 1 ? "has" : "have"} some.`),
      el("section", { "aria-labelledby": "h-choose" }, el("h2", { id: "h-choose" }, "What to know"),
        el("div", { className: "fields" },
          field(target, "Target", look.classes.length ? `Classes: ${look.classes.slice(0, 5).map((c) => `${short(c.name, 20)} ${count(c.rows)}`).join(", ")}${look.classes.length > 5 ? ", …" : ""}` : "The column to predict, if there is one. It helps, and is never filled."),
          field(words, "More words for missing", "Empty cells always are. Words or numbers, with blanks between them."),
          field(method, "Method", "How the holes are filled."))),
      guesses.length ? el("section", { "aria-labelledby": "h-guesses" }, el("h2", { id: "h-guesses" }, "What was guessed"), el("p", { className: "hint" }, "Switch off what is wrong."), el("ul", { className: "switches" }, guesses)) : null,
      findings.length ? el("section", { "aria-labelledby": "h-findings" }, el("h2", { id: "h-findings" }, "Worth a look"), el("ul", { className: "switches" }, findings)) : null,
      reading.length ? el("section", {}, el("details", { id: "reading", open: current.reading, ontoggle: (event) => { current.reading = event.target.open; } }, el("summary", {}, "How the file is read"), el("ul", { className: "switches" }, reading))) : null,
      el("section", { "aria-labelledby": "h-columns" }, el("h2", { id: "h-columns" }, "The columns"),
        el("div", { className: "scroll tall", role: "region", tabIndex: 0, "aria-labelledby": "h-columns" }, picture),
        look.n_columns > look.all_columns.length ? el("p", { className: "hint" }, `Of ${count(look.n_columns)} columns, the first ${count(look.all_columns.length)} are listed.`) : null),
      el("section", { "aria-labelledby": "h-rows" }, el("h2", { id: "h-rows" }, "The rows"), el("div", { id: "rows" })),
      el("section", { "aria-labelledby": "h-command" }, el("h2", { id: "h-command" }, "The same in a terminal"), ...code(look.command)),
      notes.length ? el("section", { "aria-labelledby": "h-notes" }, el("h2", { id: "h-notes" }, "Notes"), el("ul", { className: "told" }, notes.map((n) => el("li", {}, n)))) : null,
    ].filter(Boolean));
    picture.dispatchEvent(new CustomEvent("greyfill:tables", { bubbles: true }));
    setActions(
      el("p", {}, holes ? [el("strong", {}, plural(holes, "hole")), ` in ${plural(toFill.length, "column")} will be filled.`] : "There is nothing to fill."),
      el("div", { className: "buttons" }, el("button", { type: "button", className: "primary", id: "fill", disabled: !holes, onclick: fill }, "Fill the holes")));
    grid($("rows"));
  };

  // ---- fill ----------------------------------------------------------------------------------
  const fill = guarded(async () => { await call("POST", api("/fill"), {}); await watch(); });
  const watch = async () => {
    const asked = current, started = Date.now();
    const text = el("span", {}, "Starting …"), bar = el("progress", { max: 1, "aria-label": "Progress of the fill" });
    const cancel = el("button", { type: "button", id: "cancel", onclick: guarded(async () => {
      cancel.disabled = true;
      await call("POST", api("/cancel"), {});
    }) }, "Cancel");
    setActions(el("div", { className: "progress" }, text, bar), el("div", { className: "buttons" }, cancel));
    main.querySelectorAll("select, input, section button").forEach((part) => { part.disabled = true; });
    cancel.focus();
    for (;;) {
      const status = await call("GET", api(""));
      if (asked !== current) { return; }
      if (status.state === "filled") { await showFilled(); return; }
      if (status.state !== "filling") {
        await look();
        if (status.error) { showError(new Refused(status.error)); } else { say("Cancelled."); main.prepend(el("div", { className: "message note" }, "Cancelled. Nothing was filled.")); }
        return;
      }
      const p = status.progress;
      if (p.total) {
        const left = p.left === null ? "" : p.left < 100 ? `, about ${Math.max(1, Math.round(p.left))} s left` : `, about ${Math.round(p.left / 60)} min left`;
        text.textContent = `${p.stage}: column ${Math.min(p.done + 1, p.total)} of ${p.total}${left}`;
        if (p.left !== null) { bar.value = p.seconds / (p.seconds + p.left + 0.001); }
      } else if (p.compiling && Date.now() - started > 1500) { text.textContent = "Compiling, once on this machine; takes some seconds …"; }
      else if (p.stage) { text.textContent = `${p.stage} …`; }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };

  // ---- filled --------------------------------------------------------------------------------
  const FILES = [
    ["table", "The filled table", "In the format it came in; cells that had a value keep every byte."],
    ["excel", "Excel with colors", "Filled cells are yellow, with their limits as comments."],
    ["report", "Report", "One page to send or print: what was filled, how far to trust it."],
    ["cells", "List of the filled cells", "Line, column, value, limits, error and donors of each."],
    ["mask", "Mask", "A table of true and false: which cells were filled."],
    ["draws", "Five draws", "Filled five times by chance, for honest intervals and p-values."],
    ["model", "Saved model", "To fill new rows: greyfill apply MODEL FILE"],
  ];
  const download = (what, button) => guarded(async () => {
    const label = button.textContent;
    button.disabled = true;
    button.textContent = "Making it …";
    try {
      const answer = await fetch(api(`/files/${what}`), { credentials: "same-origin" });
      if (!answer.ok) { throw new Refused((await answer.json().catch(() => ({}))).error || "It could not be made."); }
      const name = decodeURIComponent((answer.headers.get("content-disposition") || "").split("''")[1] || what);
      const link = el("a", { href: URL.createObjectURL(await answer.blob()), download: name });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      say(`${name} was saved.`);
    } finally { button.disabled = false; button.textContent = label; }
  })();

  const tabs = (parts) => {
    const buttons = [], panels = [];
    const choosen = (n, focus) => {
      buttons.forEach((b, i) => { b.setAttribute("aria-selected", i === n); b.tabIndex = i === n ? 0 : -1; });
      panels.forEach((p, i) => { p.hidden = i !== n; });
      if (focus) { buttons[n].focus(); }
      if (!panels[n].dataset.made) { panels[n].dataset.made = "yes"; parts[n].make(panels[n]); }
    };
    parts.forEach((part, n) => {
      buttons.push(el("button", { type: "button", role: "tab", id: `tab-${part.id}`, "aria-controls": `panel-${part.id}`, onclick: () => choosen(n),
        onkeydown: (event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (step) { event.preventDefault(); choosen((n + step + parts.length) % parts.length, true); }
        } }, part.title));
      panels.push(el("div", { className: "panel", role: "tabpanel", id: `panel-${part.id}`, "aria-labelledby": `tab-${part.id}`, tabIndex: 0 }));
    });
    const made = [el("div", { className: "tabs", role: "tablist", "aria-label": "What came of it" }, buttons), ...panels];
    return [made, () => choosen(0)];
  };
  const pieces = async (panel) => {
    const asked = current, numbers = el("div", {}, el("p", { className: "loading" }, "Judging the fills …")), plots = el("div", {});
    panel.append(numbers, plots);
    const put = async (where, what) => {
      // Made by the report's own templates, which escape every name and value.
      const { html } = await call("POST", api(`/ask/${what}`), {});
      if (asked !== current) { return; }
      where.innerHTML = html;
      where.dispatchEvent(new CustomEvent("greyfill:tables", { bubbles: true }));
    };
    try {
      await put(numbers, "describe");
      plots.append(el("p", { className: "loading", role: "status" }, "Drawing …"));
      await put(plots, "draw");
    } catch (error) { showError(error, panel); }
  };
  const worth = (panel) => {
    const told = el("div", {}), stop = el("button", { type: "button", hidden: true, onclick: () => call("DELETE", api("/worth")) }, "Stop");
    const show = (found) => {
      const [heads, ...rows] = found.table;
      told.replaceChildren(el("p", {}, el("strong", {}, found.title)), el("div", { className: "scroll", role: "region", tabIndex: 0, "aria-label": "Pipelines" },
        el("table", {}, el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c, i) => el(i ? "td" : "th", i ? {} : { scope: "row" }, c))))))),
      el("ul", { className: "told" }, found.remarks.map((r) => el("li", {}, r))));
    };
    const follow = async () => {
      const asked = current, words = el("p", { className: "loading", role: "status" }, "Comparing pipelines with and without imputing; this takes some minutes …");
      ask.disabled = true;
      stop.hidden = false;
      told.replaceChildren(words);
      try {
        for (;;) {
          const status = await call("GET", api(""));
          if (asked !== current) { return; }
          if (status.judging === null) {
            if (status.judged && status.judged.error) { throw new Refused(status.judged.error); }
            if (status.judged) { show(status.judged); } else { told.replaceChildren(el("p", {}, "Stopped.")); }
            return;
          }
          const p = status.judging;
          if (p.total) { words.textContent = `${p.stage}: ${count(p.done)} of ${count(p.total)}${p.left === null ? "" : `, about ${Math.max(1, Math.round(p.left))} s left`}`; }
          await new Promise((resolve) => setTimeout(resolve, 1000));
        }
      } catch (error) { told.replaceChildren(); showError(error, panel); } finally { ask.disabled = false; stop.hidden = true; }
    };
    const ask = el("button", { type: "button", id: "worth", className: "primary", onclick: async () => {
      try { await call("POST", api("/worth"), {}); } catch (error) { showError(error, panel); return; }
      await follow();
    } }, "Find out");
    panel.append(el("p", {}, "Does imputing help to predict the target, or is the mean with an indicator as good? Cross-validation tells, with its error."), el("p", {}, ask, " ", stop), told);
    call("GET", api("")).then((status) => { if (status.judging !== null || status.judged) { follow(); } });
  };
  const code = (text, label) => text ? [label ? el("h3", {}, label) : null, el("div", { className: "line-of-code" }, el("code", {}, text), el("button", { type: "button", className: "quiet", onclick: async (event) => { await navigator.clipboard.writeText(text); event.target.textContent = "Copied"; } }, "Copy"))] : [];
  const takeHome = (panel) => {
    panel.append(
      el("ul", { className: "cards" }, FILES.map(([what, title, text]) => {
        const button = el("button", { type: "button", "data-file": what, "aria-label": `Download: ${title}`, onclick: () => download(what, button) }, "Download");
        return el("li", {}, el("h3", {}, title), el("p", {}, text), el("div", { className: "row" }, button));
      })),
      el("section", {}, el("h2", {}, "The same without this page"), ...code(current.filled.command, "In a terminal"), ...code(current.filled.python, "In Python")));
  };
  const showFilled = async () => {
    const asked = current;
    const [done, found] = [await call("GET", api("/filled")), current.look || await call("POST", api("/look"), {})];
    if (asked !== current) { return; }
    current.filled = done;
    current.look = found;
    const story = done.trust ? done.trust.sentences : [];
    const [parts, begin] = tabs([
      { id: "rows", title: "Filled table", make: (panel) => grid(panel) },
      { id: "trust", title: "How far to trust it", make: pieces },
      ...(found.has_worth && found.target ? [{ id: "worth", title: "Is imputing worth it?", make: worth }] : []),
      { id: "take", title: "Take it home", make: takeHome },
    ]);
    main.replaceChildren(...[
      el("h1", {}, bdi(current.name)),
      el("p", { className: "lead" }, el("strong", {}, plural(done.filled, "hole")), ` filled in ${plural(done.columns.filter((c) => c.filled).length, "column")} in ${done.seconds < 10 ? done.seconds.toFixed(1) : Math.round(done.seconds)} s.`),
      story.length ? el("ul", { className: "story" }, story.map((s) => el("li", {}, s))) : null,
      done.notes.length ? el("details", {}, el("summary", {}, plural(done.notes.length, "note")), el("ul", { className: "told" }, done.notes.map((n) => el("li", {}, n)))) : null,
      ...parts,
    ].filter(Boolean));
    begin();
    const button = el("button", { type: "button", className: "primary", id: "download", onclick: () => download("table", button) }, "Download the filled table");
    setActions(el("p", { className: "aside" }, `${plural(done.filled, "cell")} filled by ${done.method}.`),
      el("div", { className: "buttons" }, el("button", { type: "button", id: "change", onclick: () => look(current.look.choices) }, "Change something"), button));
    say(`${plural(done.filled, "hole")} filled.`);
    window.scrollTo(0, 0);
    button.focus({ preventScroll: true });
  };

  // ---- rows ----------------------------------------------------------------------------------
  const grid = (where) => {
    const asked = current, size = 50;
    const view = { start: 0, first: 0, sort: null, falling: false, holes: Boolean(current.filled) };
    const legend = el("p", { className: "legend" }, current.filled ? el("span", { className: "is-filled" }, "filled: choose one to see why") : null, el("span", { className: "is-hole" }, current.filled ? "left empty" : "missing"));
    const pager = el("div", { className: "pager" }), holder = el("div", { className: "scroll tall grid-scroll", role: "region", tabIndex: 0, "aria-label": "Rows of the table" });
    where.append(legend, pager, holder);
    const show = guarded(async () => {
      const page = await call("POST", api("/ask/rows"), { start: view.start, count: size, first: view.first, sort: view.sort, falling: view.falling, holes: view.holes });
      if (asked !== current || !where.isConnected) { return; }
      const last = Math.min(view.start + size, page.total);
      const move = (start) => () => { view.start = Math.max(0, Math.min(start, Math.floor((page.total - 1) / size) * size)); show(); };
      const button = (text, label, off, work) => el("button", { type: "button", "aria-label": label, disabled: off, onclick: work }, text);
      const only = el("input", { type: "checkbox", id: "only-holes", checked: view.holes, onchange: () => { view.holes = only.checked; view.start = 0; show(); } });
      const focused = document.activeElement && pager.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") || document.activeElement.id : null;
      pager.replaceChildren(...[
        el("label", {}, only, "only rows with holes"),
        page.n_columns > page.columns.length ? el("div", { className: "group" },
          button("‹", "Columns before", view.first === 0, () => { view.first = Math.max(0, view.first - 60); show(); }),
          `columns ${count(view.first + 1)} – ${count(view.first + page.columns.length)} of ${count(page.n_columns)}`,
          button("›", "More columns", view.first + page.columns.length >= page.n_columns, () => { view.first += 60; show(); })) : null,
        el("div", { className: "group" },
          button("«", "First rows", view.start === 0, move(0)), button("‹", "Rows before", view.start === 0, move(view.start - size)),
          page.total ? `${count(view.start + 1)} – ${count(last)} of ${count(page.total)}` : "no row",
          button("›", "More rows", last >= page.total, move(view.start + size)), button("»", "Last rows", last >= page.total, move(page.total)))].filter(Boolean));
      if (focused) { const again = [...pager.querySelectorAll("button, input")].find((b) => b.getAttribute("aria-label") === focused || b.id === focused); if (again && !again.disabled) { again.focus(); } }
      const head = (name) => {
        const isHere = view.sort === name;
        return el("th", { scope: "col", "aria-sort": isHere ? (view.falling ? "descending" : "ascending") : "none" },
          el("button", { type: "button", title: name, onclick: () => {
            if (!isHere) { view.sort = name; view.falling = false; } else if (!view.falling) { view.falling = true; } else { view.sort = null; view.falling = false; }
            view.start = 0;
            show();
          } }, bdi(short(name, 30))));
      };
      const cell = (text, mark, row, line, name) => {
        if (mark === 1) { return el("td", { className: "filled" }, el("button", { type: "button", "aria-label": `Line ${line}, ${name}: filled with ${text}`, onclick: () => explain(row, name) }, bdi(short(text, 40)))); }
        if (mark === 2) { return el("td", { className: "hole" }, el("span", { className: "unseen" }, "missing")); }
        return el("td", { className: name === page.target ? "target" : "" }, bdi(short(text, 40)));
      };
      holder.replaceChildren(el("table", { className: "grid" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Line"), page.columns.map(head))),
        el("tbody", {}, page.cells.map((cells, i) => el("tr", {}, el("th", { scope: "row" }, count(page.lines[i])), cells.map((text, j) => cell(text, page.marks[i][j], page.rows[i], page.lines[i], page.columns[j])))))));
      holder.scrollTop = 0;
    });
    show();
  };

  // ---- one cell ------------------------------------------------------------------------------
  const explain = guarded(async (row, column) => {
    const box = $("cell");
    const title = el("div", { className: "dialog-top" }, el("h2", { id: "cell-title" }, bdi(short(column))), el("button", { type: "button", className: "quiet", onclick: () => box.close() }, "Close"));
    box.replaceChildren(title, el("p", { className: "loading" }, "Looking for its donors …"));
    box.showModal();
    let found;
    try { found = await call("POST", api("/ask/cell"), { row, column }); } catch (error) { box.close(); throw error; }
    const r = found.range, place = (v) => 4 + 92 * (r.ends[1] > r.ends[0] ? (v - r.ends[0]) / (r.ends[1] - r.ends[0]) : 0.5);
    const number = (x) => `${x > 0 ? "+" : "−"}${Math.abs(Number(x.toPrecision(2)))}`;
    const t = found.trust;
    box.replaceChildren(...[
      title, el("p", { className: "hint" }, `Line ${count(found.line)} of the file`),
      el("p", { className: "value" }, bdi(found.value)),
      found.limits ? el("p", {}, found.limits) : null,
      r ? el("div", {}, el("svg", { class: "interval", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
        el("line", { class: "line", x1: 4, x2: 96, y1: 10, y2: 10 }), el("line", { class: "part", x1: place(r.low), x2: place(r.high), y1: 10, y2: 10 }),
        el("rect", { class: "point", x: place(r.value) - 0.6, y: 1, width: 1.2, height: 18 })),
      el("div", { className: "interval-ends" }, el("span", {}, r.texts[0]), el("span", {}, "observed range"), el("span", {}, r.texts[1]))) : null,
      t ? el("p", {}, `Fills of this column are ${t.word}`, t.word === "not judged" ? "." : `: they explain ${t.explained}; usual error ${t.error}.`) : null,
      found.donors.length ? el("h3", {}, "Donors: the rows most like it") : null,
      found.donors.length ? el("table", {}, el("thead", {}, el("tr", {}, ["Line", "Gives", "Weight"].map((h) => el("th", { scope: "col", className: h === "Weight" ? "n" : "" }, h)))),
        el("tbody", {}, found.donors.map((d) => el("tr", {}, el("td", {}, count(d.line)), el("td", {}, bdi(d.value)), el("td", { className: "n" }, d.weight.toFixed(2)))),
          found.others === null ? null : el("tr", {}, el("td", { colSpan: 2 }, "all other donors"), el("td", { className: "n" }, found.others.toFixed(2))))) : el("p", { className: "hint" }, "This method keeps no donors of a cell."),
      found.effects.length ? el("h3", {}, "What else moved it") : null,
      found.effects.length ? el("ul", { className: "told" }, found.effects.map((e) => el("li", {}, bdi(short(e.name)), ` ${number(e.effect)} ${e.unit}`))) : null,
      found.ways.length ? el("details", {}, el("summary", {}, "How the column is filled"), el("ul", {}, found.ways.map((w) => el("li", {}, w)))) : null,
    ].filter(Boolean));
    title.lastChild.focus();
  });

  // ---- begin and end -------------------------------------------------------------------------
  $("close").addEventListener("click", guarded(async () => {
    await call("POST", "/api/close", {});
    current = null;
    setActions();
    $("close").hidden = true;
    main.replaceChildren(el("h1", {}, "Closed"), el("p", {}, "The server has ended, and what it kept is removed. You can close this tab."));
  }));
  const route = guarded(async () => {
    const id = location.hash.slice(1);
    if (/^[0-9a-f]{16}$/.test(id)) { await open(id); return; }
    const state = id === "" && !route.began ? await call("GET", "/api/state") : { tables: [] };
    route.began = true;
    if (state.tables.length === 1) { location.replace(`#${state.tables[0].id}`); return; }
    if (id !== "main") { await showStart(); }
  });
  window.addEventListener("hashchange", route);
  route();
})();
