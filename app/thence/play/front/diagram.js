// The space-time diagram: a lane for each process, time to the right, a cursor. Only what can be seen is drawn.
import { fill, svg } from "./dom.js";
import { PACKET, Run, chain, pastOf } from "./run.js";

const LEFT = 64;
const RIGHT = 48;
const LEAST_STEP = 44;
const MOST_STEP = 96;
const LANE = 64;
const TOP = 34;
/** So many messages of a causal past are named in words. */
const MOST_NAMES = 40;
/** So many packets that were sent before what is in sight and arrive after it are drawn; the others are counted. */
const MOST_PASSING = 60;

export class Diagram {
  /**
   * @param {HTMLElement} host scrolls sideways
   * @param {{seek: (step: number) => void, say: (text: string) => void}} app
   */
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.hidden = new Set();
    /** @type {Run|null} */
    this.run = null;
    this.at = 0;
    this.over = null;
    this.pinned = null;
    this.divergence = null;
    /** The width of a step: a short run takes the width that there is. */
    this.step = LEAST_STEP;
    this.picture = svg("svg", { class: "diagram", role: "img" });
    this.spacer = document.createElement("div");
    this.spacer.className = "spacer";
    this.spacer.append(this.picture);
    host.append(this.spacer);
    host.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.run && (this.fit(), this.later())).observe(host);
    this.picture.addEventListener("click", (event) => this.clicked(event));
    this.picture.addEventListener("pointermove", (event) => this.moved(event));
    this.picture.addEventListener("pointerleave", () => this.hover(null));
  }

  /** Shows a run, at a step. */
  show(run, at) {
    if (run !== this.run) {
      this.over = null;
      this.pinned = null;
    }
    this.run = run;
    this.at = at;
    this.fit();
    this.spacer.style.height = `${this.height}px`;
    this.reveal();
    this.draw();
  }

  clear() {
    this.run = null;
    fill(this.picture);
  }

  fit() {
    const room = (this.host.clientWidth - LEFT - RIGHT) / (this.run.length + 1);
    this.step = Math.max(LEAST_STEP, Math.min(MOST_STEP, Math.floor(room)));
    this.spacer.style.width = `${LEFT + (this.run.length + 1) * this.step + RIGHT}px`;
  }

  get height() {
    return TOP + this.run.processes * LANE + 6;
  }

  x(step) {
    return LEFT + step * this.step;
  }

  y(process) {
    return TOP + process * LANE + LANE / 2 - 6;
  }

  /** Scrolls until the cursor is in sight. */
  reveal() {
    const x = this.x(this.at);
    const { scrollLeft, clientWidth } = this.host;
    const margin = Math.min(this.step * 3, clientWidth / 4);
    if (x < scrollLeft + LEFT + margin) this.host.scrollLeft = Math.max(0, x - LEFT - margin);
    else if (x > scrollLeft + clientWidth - margin) this.host.scrollLeft = x - clientWidth + margin;
  }

  later() {
    if (this.waiting || !this.run) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    const run = this.run;
    if (!run) return;
    const width = this.host.clientWidth || 800;
    const left = this.host.scrollLeft;
    this.picture.setAttribute("width", String(width));
    this.picture.setAttribute("height", String(this.height));
    this.picture.setAttribute("viewBox", `${left} 0 ${width} ${this.height}`);
    this.picture.setAttribute("aria-label", this.said());
    const first = Math.max(0, Math.floor((left - LEFT) / this.step) - 1);
    const last = Math.min(run.length, Math.ceil((left + width - LEFT) / this.step) + 1);
    this.marked = this.selection();
    fill(
      this.picture,
      this.grid(first, last, left, width),
      this.buffers(first, last),
      this.ways(first, last),
      this.events(first, last),
      this.labels(left),
    );
  }

  said() {
    const step = this.at ? this.run.steps[this.at - 1].title : "the beginning";
    return `Space-time diagram of ${this.run.processes} processes; the cursor is at step ${this.at} of ${this.run.length}: ${step}`;
  }

  /** The messages that are brought out: the one under the pointer, its past, the chain to it from the pinned one. */
  selection() {
    const chosen = this.over ?? this.pinned;
    if (!chosen || !this.run.messages.has(chosen)) return null;
    const past = new Set(pastOf(this.run, chosen).keys());
    past.delete(chosen);
    const way = this.pinned && this.pinned !== chosen ? chain(this.run, this.pinned, chosen) : [];
    const back = this.pinned && this.pinned !== chosen && !way.length ? chain(this.run, chosen, this.pinned) : [];
    return { chosen, past, way: new Set([...way, ...back]), pinned: this.pinned };
  }

  look(message) {
    const marked = this.marked;
    if (!marked || !message) return marked ? " dim" : "";
    if (marked.way.has(message)) return " way";
    if (message === marked.chosen) return " chosen";
    if (message === marked.pinned) return " way";
    return marked.past.has(message) ? " past" : " dim";
  }

  when(step) {
    return step > this.at ? " later" : "";
  }

  grid(first, last, left, width) {
    const run = this.run;
    const found = [svg("rect", { x: left, y: 0, width, height: this.height, class: "ground" })];
    const x = this.x(this.at);
    found.push(svg("rect", { x: x - this.step / 2, y: 0, width: this.step, height: this.height, class: "now" }));
    for (let process = 0; process < run.processes; process += 1) {
      const y = this.y(process);
      found.push(svg("line", { x1: this.x(0) - 10, y1: y, x2: this.x(run.length) + 18, y2: y, class: "lane" }));
    }
    for (let step = first; step <= last; step += 1) {
      const violated = step > 0 && (run.steps[step - 1].violations || []).some((each) => each.claimed);
      found.push(svg("text", { x: this.x(step), y: 16, class: `number${violated ? " wrong" : ""}${step === this.at ? " here" : ""}` }, step === 0 ? "start" : String(step)));
    }
    found.push(svg("line", { x1: x, y1: 22, x2: x, y2: this.height - 4, class: "cursor" }));
    const cycle = run.head.cycle;
    if (cycle) {
      const begin = this.x(run.length - cycle) + this.step / 2;
      found.push(svg("rect", { x: begin, y: 24, width: this.x(run.length) + this.step / 2 - begin, height: this.height - 30, class: "cycle" }));
      found.push(svg("text", { x: begin + 4, y: this.height - 9, class: "cycle-label" }, "again and again"));
    }
    if (this.divergence !== null) {
      const line = this.x(this.divergence) - this.step / 2;
      found.push(svg("line", { x1: line, y1: 22, x2: line, y2: this.height - 4, class: "divergence" }));
    }
    return found;
  }

  labels(left) {
    const found = [svg("rect", { x: left, y: 22, width: 40, height: this.height - 22, class: "margin" })];
    for (let process = 0; process < this.run.processes; process += 1) {
      found.push(svg("text", { x: left + 10, y: this.y(process) + 4, class: "process" }, this.run.process(process)));
    }
    return svg("g", {}, found);
  }

  /** Where messages wait: at their sender before they go out, at their receiver before they are delivered. */
  buffers(first, last) {
    const found = [];
    for (const message of this.run.waiting(first, last)) {
      for (const [process, received] of message.received) {
        const until = message.delivered.get(process) ?? this.run.length + 0.4;
        if (until > received && until >= first && received <= last) {
          found.push(this.waits(process, received, until, 7, message.name, `${message.name} has arrived at p${process} and waits for its delivery`));
        }
      }
      const left = this.leaves(message.name) ?? this.run.length + 0.4;
      if (left > message.sent && left >= first && message.sent <= last && this.run.kinds.some((kind) => kind.carries)) {
        found.push(this.waits(message.from, message.sent, left, -7, message.name, `${message.name} waits at its sender`));
      }
    }
    return found;
  }

  leaves(name) {
    if (this.leftRun !== this.run || this.leftCount !== this.run.packets.length) {
      this.left = new Map();
      this.leftRun = this.run;
      this.leftCount = this.run.packets.length;
      for (const packet of this.run.packets) {
        const message = packet[PACKET.message];
        if (message && !this.left.has(message)) this.left.set(message, packet[PACKET.sent]);
      }
    }
    return this.left.get(name);
  }

  waits(process, from, to, offset, message, title) {
    const y = this.y(process) + offset;
    const line = svg("line", { x1: this.x(from), y1: y, x2: this.x(to), y2: y, class: `waits${this.look(message)}${this.when(from)}`, "data-message": message });
    line.append(svg("title", {}, title));
    return line;
  }

  ways(first, last) {
    const found = [];
    const kinds = this.run.kinds.map((kind) => kind.name);
    let passing = 0;
    for (const number of this.run.crossing(first, last)) {
      const packet = this.run.packets[number];
      const [kind, message, from, to, sent, arrived, lost, text] = packet;
      const style = kinds.indexOf(kind);
      if (this.hidden.has(kind)) continue;
      const control = !message;
      const end = arrived ?? lost ?? sent + 1;
      if (end < first || sent > last) continue;
      if (sent < first && end > last && !(message && this.marked && !this.look(message).includes("dim")) && (passing += 1) > MOST_PASSING) continue;
      // A packet that does not arrive ends between two lanes, before the one that it goes to.
      const lanes = Math.max(Math.abs(from - to), 1);
      const share = arrived ? 1 : (lanes - (lost ? 0.35 : 0.5)) / lanes;
      const x1 = this.x(sent);
      const y1 = this.y(from);
      const x2 = x1 + (this.x(end) - x1) * (arrived || lost ? 1 : 0.8);
      const y2 = from === to ? y1 - 18 : y1 + (this.y(to) - y1) * share;
      const look = `${control ? `control kind${style % 6}` : "carries"}${this.look(message)}${this.when(sent)}`;
      const group = svg("g", { class: `way-of ${look}`, "data-message": message });
      const path = from === to ? `M${x1} ${y1}C${x1 + 6} ${y1 - 34} ${x2 - 6} ${y1 - 34} ${x2} ${y1}` : `M${x1} ${y1}L${x2} ${y2}`;
      group.append(svg("path", { d: path, class: "hit" }), svg("path", { d: path, class: "line" }));
      if (arrived) group.append(this.head(x1, y1, x2, from === to ? y1 : y2));
      else if (lost) group.append(svg("path", { d: `M${x2 - 4} ${y2 - 4}l8 8m0 -8l-8 8`, class: "lost" }));
      if (sent <= this.at && end > this.at && (arrived || lost)) {
        const part = (this.at + 0.5 - sent) / (end - sent);
        group.append(svg("circle", { cx: x1 + (x2 - x1) * part, cy: y1 + (y2 - y1) * part, r: control ? 2.5 : 4, class: "flying" }));
      } else if (!arrived && !lost) {
        group.append(svg("circle", { cx: x2, cy: y2, r: control ? 2.5 : 4, class: "flying" }));
      }
      group.append(svg("title", {}, `${text} from p${from} to p${to}, sent by step ${sent}${arrived ? `, arrives by step ${arrived}` : lost ? `, lost by step ${lost}` : ", on its way"}`));
      found.push(group);
    }
    if (passing > MOST_PASSING) {
      const more = `and ${(passing - MOST_PASSING).toLocaleString("en")} packets that are on their way all the time`;
      found.push(svg("text", { x: this.host.scrollLeft + 52, y: this.height - 9, class: "more" }, more));
    }
    return found;
  }

  head(x1, y1, x2, y2) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [x, y] = [x2 - dx * 6, y2 - dy * 6];
    const [bx, by] = [x - dx * 8, y - dy * 8];
    return svg("path", { d: `M${x} ${y}L${bx - dy * 3.5} ${by + dx * 3.5}L${bx + dy * 3.5} ${by - dx * 3.5}Z`, class: "head" });
  }

  events(first, last) {
    const found = [];
    for (let step = Math.max(first, 1); step <= last; step += 1) {
      const made = this.run.steps[step - 1];
      const x = this.x(step);
      if (made.process === null) {
        found.push(svg("line", { x1: x, y1: 24, x2: x, y2: this.height - 8, class: `unseen${this.when(step)}` }));
        continue;
      }
      const y = this.y(made.process);
      const later = this.when(step);
      const claimed = (made.violations || []).filter((each) => each.claimed);
      if (claimed.length) {
        const ring = svg("circle", { cx: x, cy: y, r: 13, class: `wrong${later}` });
        ring.append(svg("title", {}, claimed.map((each) => `violates ${each.property}: ${each.text}`).join("\n")));
        found.push(ring);
      }
      if (!made.events.length) found.push(this.plain(made, x, y, later));
      made.events.forEach((event, position) => found.push(...this.event(event, made, x, position, later)));
    }
    return found;
  }

  plain(made, x, y, later) {
    if (made.kind === "tick") return svg("path", { d: `M${x} ${y - 5}l5 5l-5 5l-5 -5Z`, class: `tick${later}` });
    if (made.kind === "receive") return svg("circle", { cx: x, cy: y, r: 2.5, class: `control-event${later}` });
    return svg("circle", { cx: x, cy: y, r: 1.5, class: `control-event${later}` });
  }

  event([kind, process, message], made, x, position, later) {
    const y = this.y(process);
    const look = `${this.look(message)}${later}`;
    if (kind === "input") {
      const mark = svg("path", { d: `M${x} ${y - 6.5}l5.5 10h-11Z`, class: `input${later}` });
      return [mark, svg("text", { x, y: y - 11, class: `label${later}` }, message)];
    }
    const name = this.run.called(message);
    const label = (dy) => svg("text", { x, y: y + dy, class: `label${look}`, "data-message": message }, name);
    if (kind === "send") {
      return [svg("rect", { x: x - 5 + position * 3, y: y - 5, width: 10, height: 10, class: `send${look}`, "data-message": message }), label(-11)];
    }
    const delivered = made.events.some((other) => other[0] === "deliver" && other[2] === message);
    if (kind === "receive") {
      return delivered ? [] : [svg("circle", { cx: x, cy: y, r: 5, class: `receive${look}`, "data-message": message }), label(20)];
    }
    const place = made.events.filter((other) => other[0] === "deliver").findIndex((other) => other[2] === message);
    const mark = svg("circle", { cx: x + place * 4, cy: y, r: 5.5, class: `deliver${look}`, "data-message": message });
    return [mark, label(20 + place * 11)];
  }

  messageAt(event) {
    const target = event.target instanceof Element ? event.target.closest("[data-message]") : null;
    return target ? target.getAttribute("data-message") : null;
  }

  moved(event) {
    this.hover(this.messageAt(event));
  }

  hover(message) {
    if (message === this.over) return;
    this.over = message;
    this.app.say(this.described());
    this.later();
  }

  /** A click on a message pins it; anywhere else it moves the cursor. */
  clicked(event) {
    const message = this.messageAt(event);
    if (message) {
      this.pinned = this.pinned === message ? null : message;
      this.app.say(this.described());
      this.later();
      return;
    }
    this.pinned = null;
    const box = this.picture.getBoundingClientRect();
    const step = Math.round((event.clientX - box.left + this.host.scrollLeft - LEFT) / this.step);
    this.app.seek(Math.max(0, Math.min(this.run.length, step)));
  }

  described() {
    const marked = this.selection();
    if (!marked) return "";
    const run = this.run;
    if (marked.pinned && marked.pinned !== marked.chosen) {
      const forward = chain(run, marked.pinned, marked.chosen);
      const way = forward.length ? forward : chain(run, marked.chosen, marked.pinned);
      if (!way.length) return `${run.called(marked.pinned)} and ${run.called(marked.chosen)} are concurrent: neither happened before the other`;
      return `happens before: ${way.map((name) => run.called(name)).join(" → ")}`;
    }
    const before = [...marked.past].sort((a, b) => run.messages.get(b).sent - run.messages.get(a).sent);
    const named = before.slice(0, MOST_NAMES).reverse().map((name) => run.called(name)).join(", ");
    const past = before.length > MOST_NAMES ? `${before.length.toLocaleString("en")} messages, the last of them ${named}` : named;
    return `${run.called(marked.chosen)}: ${past ? `in its causal past: ${past}` : "no message is in its causal past"}`;
  }
}
