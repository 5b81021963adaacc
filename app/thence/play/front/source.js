// The source: coloured, editable, with the lines that ran, the values that decided, and the faults.
import { fill, h } from "./dom.js";

/**
 * The lines of a text, each as pieces with a colour. The rules are those of the back end (thence.highlight).
 * @param {string} text
 * @param {[string, string[]][]} rules
 * @returns {{text: string, colour: string}[][]}
 */
export function coloured(text, rules) {
  const compiled = rules.map(([pattern, colours]) => ({ pattern: new RegExp(pattern, "myd"), colours }));
  const lines = [];
  let inDoc = false;
  for (const line of text.split("\n")) {
    const pieces = [];
    let at = 0;
    const add = (end, colour) => {
      if (end > at) pieces.push({ text: line.slice(at, end), colour });
      at = end;
    };
    while (at < line.length) {
      if (inDoc) {
        const end = line.indexOf('"""', at);
        inDoc = end < 0;
        add(end < 0 ? line.length : end + 3, "doc");
        continue;
      }
      if (line.startsWith('"""', at)) {
        const end = line.indexOf('"""', at + 3);
        inDoc = end < 0;
        add(end < 0 ? line.length : end + 3, "doc");
        continue;
      }
      if (!tokenAt(line, at, compiled, add)) add(at + 1, "name");
    }
    lines.push(pieces);
  }
  return lines;
}

function tokenAt(line, at, compiled, add) {
  for (const { pattern, colours } of compiled) {
    pattern.lastIndex = at;
    const found = /** @type {any} */ (pattern.exec(line));
    if (!found || found[0] === "") continue;
    if (colours.length === 1) add(at + found[0].length, colours[0]);
    else colours.forEach((colour, number) => found.indices[number + 1] && add(found.indices[number + 1][1], colour));
    return true;
  }
  return false;
}

export class Source {
  /**
   * @param {HTMLElement} host scrolls
   * @param {(text: string) => void} changed is told each new text
   */
  constructor(host, changed) {
    this.host = host;
    this.rules = [];
    this.trail = null;
    this.faults = [];
    this.rows = [];
    this.text = "";
    this.lines = h("div", { class: "lines", "aria-hidden": "true" });
    this.area = h("textarea", {
      spellcheck: false, wrap: "off", autocomplete: "off", autocapitalize: "off", "aria-label": "Source of the specification", id: "source-text",
      oninput: () => {
        this.text = this.area.value;
        this.colour();
        changed(this.text);
      },
    });
    this.code = h("div", { class: "code" }, this.lines, this.area);
    host.append(this.code);
  }

  /** Shows another text. */
  show(text, rules, readOnly) {
    this.rules = rules;
    this.text = text;
    this.area.value = text;
    this.area.readOnly = readOnly;
    this.colour();
  }

  colour() {
    const pieces = coloured(this.text, this.rules);
    const rows = pieces.map((line, at) => {
      const code = h("span", { class: "text" }, line.map((piece) => h("span", { class: `c-${piece.colour}` }, piece.text)));
      return h("div", { class: "row", "data-line": String(at + 1) }, h("span", { class: "gutter" }, String(at + 1)), code, h("span", { class: "note" }));
    });
    this.rows = rows;
    fill(this.lines, rows);
    this.area.rows = rows.length + 1;
    this.area.style.height = `${rows.length * 20 + 8}px`;
    const longest = this.text.split("\n").reduce((most, line) => Math.max(most, line.length), 0);
    this.area.style.width = `max(100%, ${longest + 12}ch)`;
    this.mark();
  }

  /** Brings out the way of a step: `trail` is null at the beginning. */
  follow(trail, line = null) {
    this.trail = trail;
    this.line = line;
    this.mark();
    const first = trail?.lines?.[0] ?? trail?.handler?.[0] ?? line;
    if (first && document.activeElement !== this.area) this.reveal(line ?? trail?.handler?.[0] ?? first);
  }

  faulty(faults) {
    this.faults = faults;
    this.mark();
  }

  /** Scrolls to a line. */
  reveal(line) {
    const row = this.rows[line - 1];
    if (!row) return;
    const top = row.offsetTop;
    const { scrollTop, clientHeight } = this.host;
    if (top < scrollTop + 20 || top > scrollTop + clientHeight - 100) this.host.scrollTop = Math.max(0, top - 40);
    this.host.scrollLeft = 0;
  }

  mark() {
    for (const row of this.rows) {
      row.className = "row";
      row.lastChild.textContent = "";
    }
    const mark = (line, name) => this.rows[line - 1]?.classList.add(name);
    const trail = this.trail;
    if (trail?.handler) for (let line = trail.handler[0]; line <= trail.handler[1]; line += 1) mark(line, "handler");
    for (const line of trail?.lines ?? []) mark(line, "ran");
    if (trail?.handler) mark(trail.handler[0], "ran");
    if (this.line) mark(this.line, "ran");
    const notes = new Map();
    for (const [line, , outcome, values] of trail?.decisions ?? []) {
      const said = `${outcome ? "true" : "false"}${values.length ? `: ${values.map(([term, value]) => `${term} = ${value}`).join(", ")}` : ""}`;
      notes.set(line, [...(notes.get(line) ?? []), said]);
    }
    for (const [line, said] of notes) {
      const row = this.rows[line - 1];
      if (!row) continue;
      const shown = said.length > 3 ? [...said.slice(0, 2), `${said.length - 3} more`, said[said.length - 1]] : said;
      row.lastChild.textContent = shown.join("  ·  ");
      row.lastChild.title = said.join("\n");
      row.classList.add("decides");
    }
    if (trail?.fault) {
      const row = this.rows[(trail.lines[trail.lines.length - 1] ?? trail.handler?.[0] ?? 1) - 1];
      if (row) {
        row.classList.add("wrong");
        row.lastChild.textContent = `fault: ${trail.fault}`;
      }
    }
    for (const fault of this.faults) {
      const row = this.rows[Math.min(fault.line, this.rows.length) - 1];
      if (!row) continue;
      row.classList.add(fault.severity);
      row.lastChild.textContent = `${fault.code}: ${fault.message}`;
    }
  }
}
