// A run as the back end gives it: the steps, and what is true after each of them.

/** Kind, message, sender, receiver, the steps that send, let arrive and lose it, text: the fields of a packet. */
export const PACKET = { kind: 0, message: 1, from: 2, to: 3, sent: 4, arrived: 5, lost: 6, text: 7 };

const BUCKET = 64;

export class Run {
  /** @param {any} document what `start` answers */
  constructor(document) {
    this.head = document;
    this.session = document.session;
    this.processes = document.processes;
    this.names = document.names || {};
    this.variables = document.variables;
    this.kinds = document.kinds;
    this.steps = document.steps;
    this.packets = document.packets;
    this.end = document.end;
    this.index();
  }

  get length() {
    return this.steps.length;
  }

  /** The run goes on otherwise after `since` steps. */
  extend(more) {
    this.steps = [...this.steps.slice(0, more.since), ...more.steps];
    this.packets = more.packets;
    this.end = more.end;
    this.head = { ...this.head, played: undefined };
    this.index();
  }

  index() {
    /** Of each process: the steps after which it has other values, ascending. */
    this.changes = Array.from({ length: this.processes }, (_, process) => [{ step: 0, values: this.head.initial[process] }]);
    this.messages = new Map();
    this.violations = [];
    /** The kinds of marks that the diagram of the run has. */
    this.marks = new Set();
    this.steps.forEach((step, at) => {
      const number = at + 1;
      if (step.values) this.changes[step.process].push({ step: number, values: step.values });
      for (const event of step.events) {
        const [kind, process, message] = event;
        if (kind === "send") {
          this.messages.set(message, { name: message, from: process, to: event[3], sent: number, delivered: new Map(), received: new Map() });
        }
        const known = this.messages.get(message);
        if (known && kind === "receive" && !known.received.has(process)) known.received.set(process, number);
        if (known && kind === "deliver" && !known.delivered.has(process)) known.delivered.set(process, number);
        const atOnce = kind === "receive" && step.events.some((other) => other[0] === "deliver" && other[2] === message);
        if (!atOnce) this.marks.add(kind);
      }
      if (!step.events.length && step.kind === "tick") this.marks.add("tick");
      for (const found of step.violations || []) this.violations.push({ step: number, ...found });
    });
    /** Of each process: the messages that it has sent or delivered, in this order. */
    this.seen = Array.from({ length: this.processes }, () => []);
    for (const message of this.messages.values()) {
      this.seen[message.from].push({ step: message.sent, message });
      for (const [process, step] of message.delivered) if (process !== message.from) this.seen[process].push({ step, message });
    }
    for (const seen of this.seen) seen.sort((one, two) => one.step - two.step);
    const left = new Map();
    for (const packet of this.packets) {
      if (packet[PACKET.lost]) this.marks.add("lost");
      if (!left.has(packet[PACKET.message])) left.set(packet[PACKET.message], packet[PACKET.sent]);
    }
    const held = this.kinds.some((kind) => kind.carries) && [...this.messages.values()].some((each) => (left.get(each.name) ?? Infinity) > each.sent);
    if (held || this.marks.has("receive")) this.marks.add("waits");
    if (this.violations.some((each) => each.claimed)) this.marks.add("wrong");
    this.stretches = undefined;
    /** The causal pasts that were asked for last. */
    this.pasts = new Map();
    /** The packets that are on their way in each stretch of steps; one that never arrives is where it was sent. */
    this.buckets = new Map();
    this.packets.forEach((packet, number) => {
      const last = packet[PACKET.arrived] ?? packet[PACKET.lost] ?? packet[PACKET.sent] + 1;
      for (let bucket = Math.floor(packet[PACKET.sent] / BUCKET); bucket <= Math.floor(last / BUCKET); bucket += 1) {
        const there = this.buckets.get(bucket);
        if (there) there.push(number);
        else this.buckets.set(bucket, [number]);
      }
    });
  }

  /** The messages that may wait somewhere between two steps, at their sender or after an arrival; each once. */
  waiting(first, last) {
    this.stretches ??= this.stretched();
    const found = new Set();
    for (let bucket = Math.floor(first / BUCKET); bucket <= Math.floor(last / BUCKET); bucket += 1) {
      for (const message of this.stretches.get(bucket) || []) found.add(message);
    }
    return found;
  }

  /** By stretch of steps: the messages of which one waits there. */
  stretched() {
    const left = new Map();
    for (const packet of this.packets) {
      const message = packet[PACKET.message];
      if (message && !left.has(message)) left.set(message, packet[PACKET.sent]);
    }
    const found = new Map();
    const enter = (message, from, to) => {
      for (let bucket = Math.floor(from / BUCKET); bucket <= Math.floor(to / BUCKET); bucket += 1) {
        const there = found.get(bucket);
        if (there) there.add(message);
        else found.set(bucket, new Set([message]));
      }
    };
    for (const message of this.messages.values()) {
      const out = left.get(message.name) ?? this.length;
      if (out > message.sent) enter(message, message.sent, out);
      for (const [process, received] of message.received) {
        const until = message.delivered.get(process) ?? this.length;
        if (until > received) enter(message, received, until);
      }
    }
    return found;
  }

  /** The values of a process's variables after so many steps, and the step that made them so. */
  values(process, at) {
    const changes = this.changes[process];
    let low = 0;
    let high = changes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (changes[middle].step <= at) low = middle;
      else high = middle - 1;
    }
    return { ...changes[low], before: low > 0 ? changes[low - 1].values : undefined };
  }

  /** The packets that are in flight after so many steps. */
  flying(at) {
    return this.packets.filter(
      (packet) => packet[PACKET.sent] <= at && !((packet[PACKET.arrived] ?? Infinity) <= at || (packet[PACKET.lost] ?? Infinity) <= at),
    );
  }

  /** The numbers of the packets that are on their way somewhere between two steps. */
  crossing(first, last) {
    const found = new Set();
    for (let bucket = Math.floor(first / BUCKET); bucket <= Math.floor(last / BUCKET); bucket += 1) {
      for (const number of this.buckets.get(bucket) || []) found.add(number);
    }
    return found;
  }

  /** The messages that some destination has not delivered after so many steps, and by whom. */
  undelivered(at) {
    const found = [];
    for (const message of this.messages.values()) {
      if (message.sent > at) continue;
      const due = message.to.filter((process) => !((message.delivered.get(process) ?? Infinity) <= at));
      if (due.length) found.push({ message, due });
    }
    return found;
  }

  /** The name that a reader knows a process or a message by. */
  called(name) {
    return this.names[name] ?? name;
  }

  process(number) {
    return this.called(`p${number}`);
  }

  /** The steps as a link holds them. */
  recorded(at = this.length) {
    return this.steps.slice(0, at).map((step) => step.recorded);
  }
}

/**
 * The messages in the causal past of a message: those that its sender sent or delivered before, and their pasts.
 * @param {Run} run
 * @param {string} name
 * @returns {Map<string, string|null>} each with the message after it on a way to `name`
 */
export function pastOf(run, name) {
  const known = run.pasts.get(name);
  if (known) return known;
  if (run.pasts.size > 8) run.pasts.clear();
  const past = new Map([[name, null]]);
  const open = [name];
  /** Of each process: how many of what it has seen are in the past already. */
  const reached = run.seen.map(() => 0);
  for (let place = 0; place < open.length; place += 1) {
    const after = open[place];
    const message = run.messages.get(after);
    if (!message) continue;
    const seen = run.seen[message.from];
    const found = [];
    while (reached[message.from] < seen.length && seen[reached[message.from]].step < message.sent) {
      found.push(seen[reached[message.from]].message);
      reached[message.from] += 1;
    }
    for (const other of found.sort((one, two) => one.sent - two.sent)) {
      if (past.has(other.name)) continue;
      past.set(other.name, after);
      open.push(other.name);
    }
  }
  run.pasts.set(name, past);
  return past;
}

/** The chain of happens-before from one message to another one, both included; empty where there is none. */
export function chain(run, first, last) {
  const past = pastOf(run, last);
  if (!past.has(first)) return [];
  const found = [first];
  while (found[found.length - 1] !== last) found.push(past.get(found[found.length - 1]));
  return found;
}
