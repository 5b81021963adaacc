// What is true where the cursor stands: states, packets in flight, steps that can be taken, properties.
import { h, svg } from "./dom.js";
import { PACKET, Run } from "./run.js";

/** The variables of each process; what the last step changed is brought out, with what it was. */
export function statePanel(run, at) {
  const everyone = Array.from({ length: run.processes }, (_, process) => process);
  const header = h("tr", {}, h("th", { scope: "col" }, "variable"), everyone.map((process) => h("th", { scope: "col" }, run.process(process))));
  const states = everyone.map((process) => run.values(process, at));
  const rows = run.variables.map((variable, number) =>
    h("tr", {}, h("th", { scope: "row", title: variable.type }, variable.name), states.map((state) => {
      const value = state.values[number];
      const was = state.step === at && at > 0 ? state.before?.[number] : undefined;
      const changed = was !== undefined && was !== value;
      return h("td", { class: changed ? "changed" : "", title: changed ? `was ${was}` : variable.type }, value, changed && h("span", { class: "was" }, `was ${was}`));
    })),
  );
  if (!run.variables.length) return h("p", { class: "none" }, "The processes have no variables.");
  return h("div", { class: "wide" }, h("table", { class: "states" }, h("thead", {}, header), h("tbody", {}, rows)));
}

/** So many lines of a list are shown. */
const MOST_LINES = 100;

/** The first lines, and how many more there are. */
function lines(items, line) {
  const more = items.length - MOST_LINES;
  return h("ul", { class: "list" }, items.slice(0, MOST_LINES).map(line), more > 0 && h("li", { class: "none" }, `and ${more.toLocaleString("en")} more`));
}

/** Packets on their way, and messages that are not delivered everywhere. */
export function flightPanel(run, at) {
  const counts = new Map();
  for (const packet of run.flying(at)) {
    const text = `${packet[PACKET.text]} from ${run.process(packet[PACKET.from])} to ${run.process(packet[PACKET.to])}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const flying = [...counts];
  const due = run.undelivered(at);
  const dueLine = ({ message, due: processes }) => {
    const whom = processes.map((process) => run.process(process) + (message.received.get(process) <= at ? ", where it waits" : ""));
    return h("li", {}, `${run.called(message.name)} is not delivered yet by ${whom.join("; ")}`);
  };
  return [
    h("h3", {}, "In flight"),
    flying.length ? lines(flying, ([text, count]) => h("li", {}, text, count > 1 && ` (${count} times)`)) : h("p", { class: "none" }, "nothing"),
    due.length ? [h("h3", {}, "Not delivered"), lines(due, dueLine)] : null,
  ];
}

/** The last step: its title, and what it did. */
export function stepPanel(run, at) {
  if (at === 0) return [h("h3", {}, "Start"), h("p", { class: "none" }, "No step has been taken.")];
  const step = run.steps[at - 1];
  const details = step.details.map((line) => h("li", { class: line.startsWith("VIOLATES") ? "wrong" : "" }, line));
  const played = run.head.played;
  const assertions = (played?.assertions ?? []).filter((each) => each.after === at);
  const stated = assertions.map((each) => h("li", { class: each.holds === false ? "wrong" : "" }, `${each.text}: ${each.holds === null ? "not judged" : each.holds ? "true" : "false"}`));
  return [
    h("h3", {}, `Step ${at}`),
    h("p", { class: "title" }, step.title),
    details.length || step.kind !== "event" ? h("ul", { class: "list" }, details.length ? details : h("li", { class: "none" }, "nothing changed")) : null,
    stated.length ? [h("h3", {}, "The scenario says here"), h("ul", { class: "list" }, stated)] : null,
    played?.failure && at === run.length ? h("p", { class: "wrong" }, `Line ${played.failure.line}: ${played.failure.why}`) : null,
  ];
}

/** The conditions that the step evaluated, each with what came out and the values that decided. */
export function decisions(trail, reveal) {
  if (!trail.decisions.length) return [];
  const rows = trail.decisions.map(([line, condition, outcome, values]) => h("li", {},
    h("button", { type: "button", class: "link", onclick: () => reveal(line) }, `line ${line}`), ` ${condition} is `, h("strong", { class: outcome ? "holds" : "none" }, outcome ? "true" : "false"),
    values.length ? h("span", { class: "none" }, `: ${values.map(([term, value]) => `${term} = ${value}`).join(", ")}`) : null));
  return [h("h3", {}, "What decided"), h("ul", { class: "list" }, rows)];
}

/** The steps that can be taken, as buttons. */
export function choicesPanel(run, at, found, take) {
  if (!found) return [h("h3", {}, "Can happen next"), h("p", { class: "none" }, "…")];
  const made = at < run.length ? run.steps[at].title : null;
  const buttons = found.choices.map((choice) => {
    const marks = [choice.violates.length ? h("span", { class: "wrong" }, `violates ${choice.violates.join(", ")}`) : null, choice.idle ? h("span", { class: "none" }, "changes nothing") : null];
    const taken = choice.title === made;
    const title = choice.details.join("\n") || "changes nothing";
    return h("li", {}, h("button", { type: "button", class: `choice ${taken ? "taken" : ""}`, "data-key": `choice${choice.number}`, title, onclick: () => take(choice.number) },
      h("span", { class: "key" }, choice.number <= 9 ? String(choice.number) : ""), h("span", {}, choice.title), marks));
  });
  const more = found.count > found.choices.length ? h("p", { class: "none" }, `and ${found.count - found.choices.length} more`) : null;
  const none = run.end === "fault" && at === run.length ? "The last step was at fault: nothing comes after it." : "Nothing can happen any more.";
  return [h("h3", {}, `Can happen next (${found.count})`), buttons.length ? h("ol", { class: "choices" }, buttons) : h("p", { class: "none" }, none), more];
}

const SAID = {
  violated: "violated", "not violated": "so far", open: "open", reached: "reached", "not reached": "not reached", unknown: "unknown",
};

/** What each property says of the run as far as the cursor, and why. */
export function propertiesPanel(judged, app) {
  if (!judged) return [h("p", { class: "none" }, "…")];
  const rows = judged.answers.map((answer) => {
    const here = answer.here === null || answer.witness ? null : h("span", { class: answer.here ? "holds" : "wrong" }, answer.here ? "true here" : "false here");
    const reached = answer.witness && answer.here !== null ? h("span", { class: answer.here ? "holds" : "none" }, answer.here ? "here" : "not here") : null;
    const since = answer.step !== null ? h("button", { type: "button", class: "link", "data-key": `p-${answer.property}`, onclick: () => app.seek(answer.step) }, answer.step === 0 ? "from the beginning" : `step ${answer.step}`) : null;
    const line = answer.line ? h("button", { type: "button", class: "link", onclick: () => app.reveal(answer.line) }, `line ${answer.line}`) : null;
    return h("div", { class: `property ${answer.standing.replace(" ", "-")}` },
      h("div", { class: "head" }, h("strong", {}, answer.property), " ", h("span", { class: "badge" }, SAID[answer.standing] ?? answer.standing), " ", since, " ", here, reached, " ", line),
      answer.why ? h("p", {}, answer.why) : null,
      answer.reason && answer.here === answer.witness ? reasonOf(answer.reason) : null);
  });
  return [
    h("p", { class: "none" }, judged.recorded ? `As far as event ${judged.at}.` : `As far as step ${judged.at}. “So far” is no proof: explore the scope for that.`),
    rows.length ? rows : h("p", { class: "none" }, "The protocol promises nothing."),
  ];
}

function reasonOf(reason) {
  const witness = reason.witness.map(([name, value]) => `${name} = ${value}`).join(", ");
  const values = reason.values.filter(([term, value]) => term !== value).map(([term, value]) => h("li", {}, `${term} = ${value}`));
  return h("div", { class: "reason" },
    witness ? h("p", {}, "with ", h("code", {}, witness)) : null,
    h("p", {}, h("code", {}, reason.part), reason.holds ? " is true" : " is false"),
    values.length ? h("ul", { class: "list" }, values) : null);
}

/** The switches of the diagram: one for each kind of packet. */
export function legend(run, hidden, toggle) {
  return run.kinds.map((kind, number) =>
    h("label", { class: `kind ${kind.carries ? "carries" : `kind${number % 6}`}` },
      h("input", { type: "checkbox", checked: !hidden.has(kind.name), "data-key": `kind-${kind.name}`, onchange: () => toggle(kind.name) }),
      h("span", { class: "sample" }), kind.name, kind.carries ? "" : " (control)"));
}

/**
 * Of each kind of mark: how it is drawn, and what it means.
 * @type {[string, string, Record<string, any>, string][]}
 */
const MARKS = [
  ["send", "rect", { x: 2, y: 2, width: 10, height: 10 }, "causal send"],
  ["input", "path", { d: "M7 1l5.5 10h-11Z" }, "input"],
  ["receive", "circle", { cx: 7, cy: 7, r: 5 }, "arrival"],
  ["waits", "path", { d: "M0 7H14" }, "waits"],
  ["deliver", "circle", { cx: 7, cy: 7, r: 5.5 }, "delivery"],
  ["tick", "path", { d: "M7 2l5 5l-5 5l-5 -5Z" }, "timer"],
  ["lost", "path", { d: "M3 3l8 8m0 -8l-8 8" }, "lost"],
  ["wrong", "circle", { cx: 7, cy: 7, r: 5.5 }, "violation"],
];

/** What the marks of the diagram of this run mean. */
export function marksOf(run) {
  return MARKS.filter(([name]) => run.marks.has(name)).map(([name, shape, place, meaning]) =>
    h("span", { class: "mark" }, svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, svg(shape, { ...place, class: `of-${name}` })), meaning));
}
