// The questions: explore the scope, find a state, a random run, mutants, scenarios; and their answers.
import { fill, h } from "./dom.js";
import { Failed } from "./answers.js";

const NUMBER = new Intl.NumberFormat("en");

export class Questions {
  /** @param {HTMLElement} host @param {any} app */
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.stop = null;
    this.status = h("p", { class: "status", role: "status" });
    this.answer = h("div", { class: "answer" });
    this.body = h("div", {});
    host.append(this.body, this.status, this.answer);
  }

  /** Offers what can be asked of the file, where the run stands. */
  show(summary, place, where) {
    const { app } = this;
    const searches = app.answers.searches;
    const protocol = summary?.protocols.find((one) => one.name === place.protocol) ?? summary?.protocols[0];
    if (summary && !protocol && (summary.machines.length || summary.theorems.length)) {
      fill(this.body, this.proofs(summary));
      return;
    }
    if (!summary || !protocol) {
      fill(this.body, h("p", { class: "none" }, searches ? "Mend the text first." : app.config.command ? `This file has one run. To ask more: ${app.config.command}` : ""));
      return;
    }
    const limit = h("input", { type: "number", min: "100", max: "50000000", step: "100", value: String(app.config.limit ?? 1_000_000), id: "limit", size: 9 });
    const formula = h("input", { type: "text", id: "formula", spellcheck: false, placeholder: "exists p: process. …", "aria-describedby": "formula-fault" });
    const seed = h("input", { type: "number", min: "0", value: String(app.seed ?? 0), id: "seed", size: 5 });
    const count = h("input", { type: "number", min: "1", max: "10000", value: "100", id: "count", size: 5 });
    this.fault = h("p", { class: "wrong", id: "formula-fault" });
    const explore = h("form", { onsubmit: (event) => this.submit(event, () => this.explore(where, Number(limit.value))) },
      h("h3", {}, "Explore this scope"), h("p", { class: "none" }, app.run ? app.run.head.words : ""),
      h("label", { for: "limit" }, "at most "), limit, " states ", h("button", { type: "submit", id: "explore" }, "Explore"));
    const find = h("form", { onsubmit: (event) => this.submit(event, () => this.find(where, formula.value, Number(limit.value))) },
      h("h3", {}, h("label", { for: "formula" }, "Find a state where")), formula, " ", h("button", { type: "submit", id: "find" }, "Find"), this.fault);
    const random = h("form", { onsubmit: (event) => this.submit(event, () => app.random(Number(seed.value), Number(count.value))) },
      h("h3", {}, "Random run"), h("label", { for: "count" }, "steps "), count, " ", h("label", { for: "seed" }, "seed "), seed, " ", h("button", { type: "submit", id: "random" }, "Run"));
    const mutants = protocol.mutants.map((mutant) => h("li", {},
      h("button", { type: "button", "data-key": `mutant-${mutant.name}`, onclick: () => this.compare(mutant.name) }, mutant.name), " ", h("span", { class: "none" }, mutant.doc.split("\n")[0])));
    const scenarios = summary.scenarios.map((scenario) => h("li", {},
      h("button", { type: "button", "data-key": `scenario-${scenario.name}`, onclick: () => app.begin({ scenario: scenario.name }) }, scenario.name), " ", h("span", { class: "none" }, scenario.doc.split("\n")[0])));
    fill(this.body,
      searches ? [explore, find, random] : null,
      searches && mutants.length ? [h("h3", {}, "Mutants, beside the original"), h("ul", { class: "list" }, mutants)] : null,
      scenarios.length && app.answers.edits ? [h("h3", {}, "Scenarios"), h("ul", { class: "list" }, scenarios)] : null,
      this.proofs(summary));
  }

  /** Theorems and machines: proved on request where there are solvers; elsewhere the command stands there. */
  proofs(summary) {
    const { app } = this;
    const named = [...summary.machines, ...summary.theorems, ...(summary.machine_mutants ?? [])];
    if (!named.length || !app.answers.edits) return null;
    const said = app.answers.proves ? "By solvers, for any number of messages, too." : "Solvers prove these; there are none in a browser. The command is:";
    const rows = named.map((one) => h("li", {}, app.answers.proves
      ? [h("button", { type: "button", "data-key": `prove-${one.name}`, onclick: () => this.prove(one.name) }, one.name), " ", h("span", { class: "none" }, one.doc.split("\n")[0])]
      : h("code", {}, `thence prove ${app.name} ${one.name}`)));
    return [h("h3", {}, "Prove, for any number of processes"), h("p", { class: "none" }, said), h("ul", { class: "list" }, rows)];
  }

  prove(name) {
    return this.long(`Proving ${name}`, "prove", { spec: this.app.spec, name }, async (answer) => {
      const rows = answer.results.map((each) => h("tr", {},
        h("th", { scope: "row" }, each.name), h("td", { class: `verdict ${each.verdict}` }, `${each.verdict} (${each.level})`),
        h("td", {}, each.run ? h("button", { type: "button", "data-key": `cti-${each.name}`, onclick: () => this.app.frozen(each) }, "show") : each.verdict === "refuted" ? h("details", {}, h("summary", {}, "show"), h("pre", {}, each.explanation)) : ""),
        h("td", { class: "none" }, each.unknown ?? "")));
      fill(this.answer, h("h3", {}, "Verdicts"), h("table", { class: "verdicts" }, h("tbody", {}, rows)), h("p", { class: "none" }, "proved: for any number of processes and messages."));
      const first = answer.results.find((each) => each.verdict === "refuted" && each.run);
      if (first) await this.app.frozen(first);
    });
  }

  /** The text is another one: what is being looked for, and what was found, is not about it. */
  forget() {
    if (!this.stop && !this.answer.hasChildNodes()) return;
    this.stop?.abort();
    this.stop = null;
    fill(this.answer);
    fill(this.status, "The text was changed: ask again.");
  }

  submit(event, ask) {
    event.preventDefault();
    ask();
  }

  /** Asks what takes long: shows how far it is, and lets it be stopped. */
  async long(said, method, asked, shown) {
    if (this.stop) this.stop.abort();
    const stop = (this.stop = new AbortController());
    const text = h("span", {}, `${said} …`);
    fill(this.answer);
    fill(this.status, text, " ", h("button", { type: "button", id: "stop", onclick: () => stop.abort() }, "Stop"));
    const onProgress = (progress) => {
      if (progress.said) {
        text.textContent = progress.said;
        return;
      }
      const depth = `depth ${progress.depth}${progress.expected_depth ? ` of about ${progress.expected_depth}` : ""}`;
      text.textContent = `${said}: ${NUMBER.format(progress.states)} states, ${depth}`;
    };
    try {
      const answer = await this.app.ask(method, asked, { onProgress, signal: stop.signal });
      if (this.stop !== stop) return;
      fill(this.status);
      shown(answer);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (this.stop !== stop) return;
      fill(this.status, error.message === "stopped" ? "Stopped: nothing is known." : error.message);
    } finally {
      if (this.stop === stop) this.stop = null;
    }
  }

  explore(where, limit) {
    const about = this.app.titleOf.textContent;
    return this.long("Exploring", "explore", { ...where, limit }, (answer) => {
      this.results(answer.results, where, about);
      const refuted = answer.results.find((each) => each.verdict === "refuted" && each.steps.length);
      if (refuted) this.app.replay(where, refuted);
    });
  }

  results(results, where, about) {
    const rows = results.map((each) => h("tr", {},
      h("th", { scope: "row" }, each.property ?? each.name),
      h("td", { class: `verdict ${each.verdict}` }, `${each.verdict} (${each.level})`, each.wanted && !each.expected ? `, expected: ${each.wanted}` : ""),
      h("td", {}, each.steps.length ? h("button", { type: "button", "data-key": `show-${each.name}`, onclick: () => this.app.replay(where, each) }, `${each.steps.length} steps`) : ""),
      h("td", { class: "none" }, each.unknown ?? "")));
    const first = results.find((each) => each.states) ?? results[0];
    const covered = first ? `${NUMBER.format(first.states ?? 0)} states, depth ${first.depth ?? 0}${first.complete ? ": all of the scope" : ""}; a verdict speaks of ${about} only.` : "";
    fill(this.answer, h("h3", {}, "Verdicts"), h("table", { class: "verdicts" }, h("tbody", {}, rows)), h("p", { class: "none" }, covered));
  }

  find(where, formula, limit) {
    this.fault.textContent = "";
    return this.long("Looking", "find", { ...where, formula, limit }, (answer) => {
      if (answer.diagnostics.length) {
        this.fault.textContent = answer.diagnostics.map((each) => `column ${each.column}: ${each.message} (${each.code})`).join("; ");
        return;
      }
      const covered = `${NUMBER.format(answer.result.states ?? 0)} states`;
      if (answer.answer === "reached") {
        this.app.replay(where, answer.result);
        fill(this.answer, h("p", {}, `Reached by ${answer.result.steps.length} steps, a shortest way; ${covered} visited.`));
      } else if (answer.answer === "unreachable") {
        fill(this.answer, h("p", {}, `No run of this scope reaches such a state; all ${covered} visited.`));
      } else fill(this.answer, h("p", {}, `Unknown: ${answer.result.unknown ?? ""}`));
    });
  }

  compare(mutant) {
    return this.long(`Looking for a run that shows ${mutant}`, "compare", { spec: this.app.spec, mutant }, async (answer) => {
      this.results(answer.results, answer.mutant?.start ?? {}, `${mutant} in this scope`);
      if (!answer.mutant) {
        fill(this.status, `No run of this scope shows ${mutant}.`);
        return;
      }
      await this.app.sideBySide(answer);
    });
  }
}
