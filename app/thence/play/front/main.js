// The player: joins the panels, and keeps what they show together.
import { Failed, KeptAnswers, judgedByFindings, NoAnswers, ServerAnswers, WorkerAnswers } from "./answers.js";
import { Diagram } from "./diagram.js";
import { fill, h, svg } from "./dom.js";
import { documentWith, keepAsFile, packed, unpacked } from "./link.js";
import { choicesPanel, decisions, flightPanel, legend, marksOf, propertiesPanel, statePanel, stepPanel } from "./panels.js";
import { Questions } from "./questions.js";
import { Run } from "./run.js";
import { Source } from "./source.js";

const EDIT_MS = 300;
const PLAY_MS = 900;

class Player {
  /** @param {HTMLElement} root @param {any} config */
  constructor(root, config) {
    this.config = config;
    this.root = root;
    this.name = config.name ?? "";
    this.text = "";
    this.opened = "";
    this.spec = null;
    this.summary = null;
    /** @type {any} */
    this.place = {};
    /** @type {Run|null} */
    this.run = null;
    /** @type {Run|null} */
    this.beside = null;
    this.at = 0;
    this.seed = 0;
    /** The property that the run shown is known to refute. */
    this.refuted = "";
    this.turn = 0;
    this.answers = this.answersOf(config);
    this.build();
  }

  answersOf(config) {
    if (config.mode === "server") return new ServerAnswers();
    if (config.mode === "worker" && location.protocol === "file:") return new NoAnswers();
    if (config.mode === "worker") return new WorkerAnswers(config.worker, (text) => this.tell(text));
    return new KeptAnswers(config.kept);
  }

  // --- the page --------------------------------------------------------------------------------

  build() {
    this.files = h("select", { id: "file", "aria-label": "File", onchange: () => this.guarded(() => this.openFile(this.files.value)) });
    this.places = h("select", { id: "place", "aria-label": "Scope, mutant or scenario", onchange: () => this.guarded(() => this.begin(JSON.parse(this.places.value))) });
    this.message = h("p", { class: "message", role: "status", id: "message" });
    this.said = h("p", { class: "said", "aria-live": "polite", id: "said" });
    this.slider = h("input", { type: "range", id: "cursor", min: "0", max: "0", value: "0", "aria-label": "Step", oninput: () => this.seek(Number(this.slider.value)) });
    this.where = h("output", { for: "cursor", class: "where", id: "where" });
    this.playing = h("button", { type: "button", id: "play", title: "Play (Space)", "aria-label": "Play", onclick: () => this.play() }, icon("play"));
    const button = (id, text, title, onclick) => h("button", { type: "button", id, title, "aria-label": title, onclick }, text);
    this.host = h("div", { class: "scroll", tabindex: "0", "aria-label": "Diagram; arrow keys move the cursor", id: "diagram" });
    this.hostBeside = h("div", { class: "scroll", tabindex: "0", "aria-label": "Diagram of the original", id: "diagram-beside" });
    this.titleOf = h("h2", { id: "title" });
    this.titleBeside = h("h2", { id: "title-beside" });
    this.besidePanel = h("section", { class: "beside", hidden: true }, this.titleBeside, this.hostBeside);
    this.kinds = h("div", { class: "legend" });
    this.state = h("section", { class: "panel state", id: "state", "aria-label": "State" });
    this.next = h("section", { class: "panel", id: "next", "aria-label": "Steps" });
    this.laws = h("section", { class: "panel", id: "laws", "aria-label": "Properties" });
    this.asking = h("section", { class: "panel", id: "asking", "aria-label": "Questions" });
    this.faults = h("ul", { class: "faults", id: "faults" });
    const scroll = h("div", { class: "source-scroll", id: "source" });
    this.tabs = [["next", "Steps", this.next], ["laws", "Properties", this.laws], ["asking", "Questions", this.asking]];
    this.tabButtons = this.tabs.map(([name, title]) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": name, onclick: () => this.tab(name), onkeydown: (event) => this.tabKey(event, name) }, title));
    for (const [name, , panel] of this.tabs) {
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `tab-${name}`);
    }
    fill(this.root,
      h("header", {}, h("h1", {}, "Thence"), this.files, this.places, h("span", { class: "grow" }),
        button("link", "Link", "Copy a link to this run", () => this.guarded(() => this.share())),
        button("keep", "File", "Keep this run as one file that opens without a server", () => this.guarded(() => this.keep())),
        button("scenario", "Scenario", "This run as a scenario of the file", () => this.guarded(() => this.scenario())),
        button("theme", "◐", "Light or dark", () => this.theme())),
      this.message,
      h("main", {},
        h("section", { class: "time", "aria-label": "Space-time diagram" },
          h("div", { class: "line" }, this.titleOf, this.kinds),
          this.host, this.besidePanel,
          h("div", { class: "transport" },
            button("first", icon("first"), "To the beginning (Home)", () => this.seek(0)), button("back", icon("back"), "A step back (Left)", () => this.seek(this.at - 1)), this.playing,
            button("forth", icon("forth"), "A step on (Right)", () => this.seek(this.at + 1)), button("last", icon("last"), "To the end (End)", () => this.seek(this.length)),
            this.slider, this.where),
          this.said),
        h("section", { class: "source", "aria-label": "Source" }, scroll, this.faults),
        h("section", { class: "middle" }, this.state),
        h("section", { class: "side" }, h("div", { role: "tablist", class: "tabs" }, this.tabButtons), this.next, this.laws, this.asking)));
    this.diagram = new Diagram(this.host, { seek: (step) => this.seek(step), say: (text) => this.say(text) });
    this.diagramBeside = new Diagram(this.hostBeside, { seek: (step) => this.seek(step), say: (text) => this.say(text) });
    this.source = new Source(scroll, (text) => this.edited(text));
    this.questions = new Questions(this.asking, this);
    this.scenarioButton = /** @type {HTMLElement} */ (document.getElementById("scenario"));
    this.tab("next");
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.guarded(() => this.followLink()));
    const kept = sessionKept("thence-theme");
    if (kept) document.documentElement.dataset.theme = kept;
  }

  tab(name) {
    this.tabs.forEach(([other, , panel], number) => {
      panel.hidden = other !== name;
      this.tabButtons[number].setAttribute("aria-selected", String(other === name));
      this.tabButtons[number].tabIndex = other === name ? 0 : -1;
    });
    this.shownTab = name;
    if (name === "laws" && this.run) this.guarded(() => this.judge());
  }

  tabKey(event, name) {
    const number = this.tabs.findIndex(([other]) => other === name);
    const to = { ArrowLeft: number - 1, ArrowRight: number + 1 }[event.key];
    if (to === undefined || !this.tabs[to]) return;
    event.stopPropagation();
    event.preventDefault();
    this.tab(this.tabs[to][0]);
    this.tabButtons[to].focus();
  }

  theme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keepInSession("thence-theme", root.dataset.theme);
  }

  key(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return;
    if (target instanceof HTMLInputElement && target.type !== "checkbox" && target.type !== "range") return;
    const pressed = target instanceof HTMLButtonElement || target instanceof HTMLInputElement;
    const steps = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.length, PageUp: this.at - 10, PageDown: this.at + 10 };
    if (event.key in steps) {
      event.preventDefault();
      this.seek(steps[event.key]);
    } else if (event.key === " " && !pressed) {
      event.preventDefault();
      this.play();
    } else if (/^[1-9]$/.test(event.key) && this.shownTab === "next" && this.choices) {
      const choice = this.choices.choices.find((each) => each.number === Number(event.key));
      if (choice) this.guarded(() => this.take(choice.number));
    }
  }

  tell(text, wrong = false) {
    this.message.textContent = text;
    this.message.classList.toggle("wrong", wrong);
  }

  say(text) {
    this.said.textContent = text || (this.run && this.at ? this.run.steps[this.at - 1].title : "");
  }

  /** Does something, and shows the reader's faults; everything else is a fault of the player, and shows in the console. */
  async guarded(act) {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Failed)) {
        this.tell(`The player is at fault: ${error instanceof Error ? error.message : error}`, true);
        throw error;
      }
      this.tell(error.message, true);
    }
  }

  // --- files -----------------------------------------------------------------------------------

  async ask(method, asked, manner) {
    try {
      return await this.answers.ask(method, asked, manner);
    } catch (error) {
      if (!(error instanceof Failed) || error.kind !== "Gone") throw error;
      return this.answers.ask(method, await this.again(asked), manner);
    }
  }

  /** Gives a text, or a run, that is kept no more once again; and the question about it. */
  async again(asked) {
    const { spec } = await this.answers.ask("load", { text: this.text, name: this.name });
    this.spec = spec;
    if (asked.session === undefined || !this.run) return { ...asked, spec };
    const begun = await this.answers.ask("start", { spec, ...this.place, steps: this.run.recorded() });
    this.run.session = begun.session;
    return { ...asked, session: begun.session };
  }

  async begun() {
    const about = await this.answers.ask("about", {});
    this.rules = about.rules;
    const names = [...about.files, ...about.library.filter((name) => !about.files.includes(name))];
    fill(this.files, names.map((name) => h("option", { value: name }, name)));
    this.files.hidden = names.length < 2;
    if (await this.followLink()) return;
    await this.openFile(this.config.name ?? names[0], this.config.start ?? {});
    if (this.config.steps && this.summary) await this.begin(this.config.start ?? {}, this.config.steps, this.config.steps.length);
  }

  async openFile(name, start = {}) {
    const opened = await this.ask("open", { name });
    await this.setText(opened.name, opened.text, start);
    this.opened = opened.text;
  }

  async setText(name, text, start) {
    this.name = name;
    this.text = text;
    this.opened = text;
    if ([...this.files.options].some((option) => option.value === name)) this.files.value = name;
    this.source.show(text, this.rules, !this.answers.edits);
    await this.load();
    if (this.summary && (this.summary.protocols.length || start.scenario || this.config.mode === "kept")) await this.begin(start);
    else if (this.summary) this.withoutRuns();
  }

  /** A file with theorems and machines only. */
  withoutRuns() {
    this.run = null;
    this.diagram.clear();
    this.titleOf.textContent = this.name;
    for (const element of [this.state, this.kinds, this.laws]) fill(element);
    this.questions.show(this.summary, {}, {});
    fill(this.next, h("p", { class: "none" }, "There is no protocol, so there are no steps."));
    this.tab("asking");
    this.tell("This file has no protocol: there is no run to show. Its theorems and machines are under Questions.");
  }

  async load() {
    const turn = (this.turn += 1);
    const found = await this.answers.ask("load", { text: this.text, name: this.name });
    if (turn !== this.turn) return false;
    this.source.faulty(found.diagnostics);
    const faults = found.diagnostics.map((each) => h("li", { class: each.severity }, h("button", { type: "button", class: "link", onclick: () => this.source.reveal(each.line) }, `line ${each.line}`), ` ${each.code}: ${each.message}`, each.notes.map((note) => h("span", { class: "none" }, ` ${note}.`))));
    fill(this.faults, found.empty ? h("li", { class: "error" }, found.empty) : null, faults);
    if (!found.summary) {
      this.tell("The text has errors; the run shown is that of the text before.", true);
      return false;
    }
    this.tell("");
    if (found.spec !== this.spec) this.questions.forget();
    this.spec = found.spec;
    this.summary = found.summary;
    this.offer();
    return true;
  }

  /** The text was changed: its faults appear at once, and a run that still fits is shown again. */
  edited(text) {
    this.text = text;
    clearTimeout(this.editing);
    this.editing = setTimeout(() => this.guarded(async () => {
      if (!(await this.load())) return;
      const { place, at } = this;
      const steps = this.run && !place.scenario ? this.run.recorded() : undefined;
      try {
        await this.begin(place, steps, at);
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        try {
          await this.begin(place);
          this.tell("The run was not possible any more: it begins anew.");
        } catch (other) {
          if (!(other instanceof Failed)) throw other;
          await this.begin({});
        }
      }
    }), EDIT_MS);
  }

  offer() {
    const options = [];
    for (const protocol of this.summary.protocols) {
      const scopes = protocol.scopes.map((scope) => h("option", { value: JSON.stringify({ protocol: protocol.name, scope: scope.name }) }, `${scope.name}: ${scope.words}`));
      if (!scopes.length) scopes.push(h("option", { value: JSON.stringify({ protocol: protocol.name }) }, `${protocol.name}: as explored where no scope is stated`));
      options.push(h("optgroup", { label: protocol.name }, scopes));
      const mutants = protocol.mutants.map((mutant) => h("option", { value: JSON.stringify({ mutant: mutant.name }) }, mutant.name));
      if (mutants.length) options.push(h("optgroup", { label: `mutants of ${protocol.name}` }, mutants));
    }
    const scenarios = this.summary.scenarios.map((scenario) => h("option", { value: JSON.stringify({ scenario: scenario.name }) }, scenario.name));
    if (scenarios.length) options.push(h("optgroup", { label: "scenarios" }, scenarios));
    fill(this.places, options);
    this.places.disabled = !this.answers.edits;
    this.choosePlace();
  }

  choosePlace() {
    const { place, run } = this;
    const wanted = [...this.places.options].find((option) => {
      const value = JSON.parse(option.value);
      if (place.scenario) return value.scenario === place.scenario;
      if (place.mutant) return value.mutant === place.mutant;
      return value.scope ? value.scope === (run?.head.scope ?? place.scope) && value.protocol === (run?.head.subject ?? value.protocol) : value.protocol && value.protocol === run?.head.subject;
    });
    if (wanted) this.places.value = wanted.value;
  }

  // --- runs ------------------------------------------------------------------------------------

  get length() {
    return Math.max(this.run?.length ?? 0, this.beside?.length ?? 0);
  }

  /** What a search is asked about: the place of the run. */
  get asked() {
    const { scenario, ...place } = this.place;
    const own = this.run && !place.scope && !place.settings && this.run.head.settings && !scenario ? { processes: this.run.processes, settings: this.run.head.settings } : {};
    if (this.run?.head.scope) return { spec: this.spec, ...place, scope: this.run.head.scope };
    return { spec: this.spec, ...place, ...own };
  }

  /** Begins a run; with steps, these are taken at once. */
  async begin(place, steps, at, cycle = 0) {
    const asked = { spec: this.spec, ...place, ...(steps ? { steps } : {}) };
    const document = await this.ask("start", asked);
    this.place = place;
    this.refuted = "";
    this.beside = null;
    this.run = new Run({ ...document, cycle: cycle || document.cycle || 0 });
    this.at = Math.min(at ?? (place.scenario || this.config.mode === "kept" ? this.run.length : 0), this.run.length);
    if (this.config.mode === "kept") this.at = Math.min(this.config.at ?? this.run.length, this.run.length);
    this.choosePlace();
    if (this.config.mode === "kept") this.showKept(this.config.kept);
    await this.refresh();
  }

  /** What a file holds beside its run: what is said of it, and the run that stands below it. A recording has no text. */
  showKept(kept) {
    if (kept.said) this.tell(kept.said, this.run.violations.length > 0 || this.config.refuted === true);
    this.root.classList.toggle("without-source", kept.text === "");
    this.places.hidden = kept.text === "";
    for (const id of ["link", "keep", "scenario"]) /** @type {HTMLElement} */ (document.getElementById(id)).hidden = true;
    this.tabButtons[2].hidden = kept.text === "";
    if (!kept.beside) return;
    this.beside = new Run(kept.beside.run);
    this.diagramBeside.divergence = kept.beside.divergence;
    this.titleBeside.textContent = kept.beside.run.subject + (kept.beside.divergence ? `; it differs from event ${kept.beside.divergence} on` : "; the same events");
  }

  /** Shows the run of an answer, at its end. */
  async replay(where, found) {
    const { spec, limit, ...place } = where;
    const cycle = Array.isArray(found.lasso) ? 0 : found.lasso?.cycle?.length ?? found.lasso?.cycle ?? 0;
    await this.guarded(() => this.begin(place, found.steps, found.steps.length, typeof cycle === "number" ? cycle : 0));
    if (found.property && found.verdict === "refuted") this.refuted = found.property;
    if (this.refuted) this.tell(`${found.property} is refuted: ${found.steps.length} steps to its counterexample.`);
  }

  /** Shows a run that has no other steps: a countermodel, or the step that breaks an invariant. */
  async frozen(result) {
    this.run = new Run(result.run);
    this.beside = null;
    this.at = this.run.length;
    await this.refresh();
    this.tell(`${result.name} is ${result.verdict}. ${result.run.steps.at(-1)?.violations?.[0]?.text ?? ""}`, true);
  }

  async sideBySide(answer) {
    await this.begin(answer.mutant.start, answer.mutant.steps, answer.mutant.steps.length);
    this.refuted = answer.property;
    const original = await this.ask("start", { spec: this.spec, ...answer.original.start, steps: answer.original.steps });
    this.beside = new Run(original);
    const stopped = answer.original.stopped;
    this.diagramBeside.divergence = stopped ? this.beside.length + 1 : null;
    this.titleBeside.textContent = `${original.subject}, the same steps${stopped ? `; ${stopped}` : ""}`;
    await this.refresh();
    this.tell(`${answer.property} is refuted of ${this.run.head.subject}; the original takes the same steps below.`);
  }

  seek(step) {
    const at = Math.max(0, Math.min(this.length, step));
    if (at === this.at || !this.run) return;
    this.at = at;
    this.guarded(() => this.refresh());
  }

  reveal(line) {
    this.source.reveal(line);
  }

  play() {
    if (this.timer) return this.pause();
    if (this.at >= this.length) this.seek(0);
    fill(this.playing, icon("pause"));
    this.playing.setAttribute("aria-label", "Pause");
    this.timer = setInterval(() => {
      if (this.at >= this.length) this.pause();
      else this.seek(this.at + 1);
    }, PLAY_MS);
    return undefined;
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    fill(this.playing, icon("play"));
    this.playing.setAttribute("aria-label", "Play");
  }

  async take(number) {
    const { run, at } = this;
    const more = await this.ask("take", { session: run.session, at: Math.min(at, run.length), number });
    if (run !== this.run) return;
    this.refuted = "";
    run.extend(more);
    this.place = this.place.scenario ? { ...this.place, forked: true } : this.place;
    this.beside = null;
    this.at = run.length;
    await this.refresh();
  }

  async random(seed, count) {
    const { run } = this;
    if (!run) return;
    this.seed = seed + 1;
    const more = await this.ask("random", { session: run.session, at: 0, seed, count });
    if (run !== this.run) return;
    this.refuted = "";
    run.extend(more);
    this.beside = null;
    this.at = run.length;
    await this.refresh();
  }

  // --- what is shown -----------------------------------------------------------------------------

  async refresh() {
    const { run } = this;
    if (!run) return;
    const at = Math.min(this.at, run.length);
    this.slider.max = String(this.length);
    this.slider.value = String(this.at);
    const title = at ? run.steps[at - 1].title : "the beginning";
    this.slider.setAttribute("aria-valuetext", `step ${this.at} of ${this.length}: ${title}`);
    this.where.textContent = `${this.at} / ${this.length}`;
    this.titleOf.textContent = `${run.head.scenario ?? run.head.subject}${run.head.scope ? ` in ${run.head.scope}` : ""}`;
    this.titleOf.title = run.head.words;
    this.besidePanel.hidden = !this.beside;
    this.diagram.show(run, at);
    if (this.beside) this.diagramBeside.show(this.beside, Math.min(this.at, this.beside.length));
    fill(this.kinds, marksOf(run), legend(run, this.diagram.hidden, (kind) => this.toggle(kind)));
    const states = run.variables.length || (this.answers.edits && !run.head.frozen) ? [h("h3", {}, "State"), statePanel(run, at)] : null;
    fill(this.state, stepPanel(run, at), h("div", { id: "decided" }), states, flightPanel(run, at));
    if (!run.head.frozen) this.questions.show(this.summary, { protocol: run.head.subject.split("/")[0] }, this.asked);
    this.say("");
    this.choices = null;
    await Promise.all([this.follow(run, at), this.enabled(run, at), this.shownTab === "laws" ? this.judge() : null]);
  }

  toggle(kind) {
    for (const diagram of [this.diagram, this.diagramBeside]) {
      if (diagram.hidden.has(kind)) diagram.hidden.delete(kind);
      else diagram.hidden.add(kind);
      if (diagram.run) diagram.draw();
    }
  }

  async follow(run, at) {
    const line = run.head.played?.lines[at - 1] ?? null;
    if (at === 0) {
      this.source.follow(null);
      return;
    }
    let trail = run.steps[at - 1].trail;
    if (!trail) {
      trail = await this.ask("trail", { session: run.session, at });
      run.steps[at - 1].trail = trail;
    }
    if (run !== this.run || at !== Math.min(this.at, run.length)) return;
    this.source.follow(trail, line);
    fill(/** @type {Element} */ (document.getElementById("decided")), decisions(trail, (number) => this.reveal(number)));
  }

  async enabled(run, at) {
    if (run.head.frozen) {
      const other = this.config.mode === "kept" ? "The command that finds it:" : "Choose a scope above to run the protocol.";
      fill(this.next, h("p", { class: "none" }, `This is a countermodel: it has no other steps. ${other}`));
      if (this.config.mode === "kept") this.next.append(h("p", {}, h("code", {}, this.config.kept.command)));
      return;
    }
    if (!this.answers.edits) {
      const recorded = this.config.kept?.text === "";
      const said = recorded ? "This is what happened: there are no other steps to take. The command that judges it:" : "This file has one run. To take other steps, open it in the player:";
      fill(this.next, h("p", { class: "none" }, said), h("p", {}, h("code", {}, this.config.kept?.command ?? "thence play")));
      return;
    }
    const found = await this.ask("enabled", { session: run.session, at });
    if (run !== this.run || at !== Math.min(this.at, run.length)) return;
    this.choices = found;
    fill(this.next, choicesPanel(run, at, found, (number) => this.guarded(() => this.take(number))));
  }

  async judge() {
    const { run } = this;
    if (!run) return;
    const at = Math.min(this.at, run.length);
    if (run.head.frozen) {
      fill(this.laws, propertiesPanel(judgedByFindings({ properties: [], run: { steps: run.steps } }, at), this));
      return;
    }
    const judged = await this.ask("judge", { session: run.session, at });
    if (run === this.run && at === Math.min(this.at, run.length)) {
      // A lasso does not end: what is judged at rest is not judged there.
      const lasso = run.head.cycle && at === run.length ? "the framed steps are repeated for ever; Explore says whether a fair run that does so refutes it" : null;
      const answers = judged.answers.map((each) => (lasso && each.standing === "open" ? { ...each, why: lasso } : each));
      fill(this.laws, propertiesPanel({ ...judged, answers }, this));
    }
  }

  // --- sharing -----------------------------------------------------------------------------------

  async share() {
    if (this.run?.head.frozen) throw new Failed("Kept", "A countermodel is no run of the protocol: it has no link.");
    const value = { name: this.name, place: this.place, at: this.at, cycle: this.run?.head.cycle || undefined };
    if (this.text !== this.opened || !this.isNamed()) value.text = this.text;
    if (this.run && !(this.place.scenario && this.run.head.played)) value.steps = this.run.recorded();
    const fragment = await packed(value);
    history.replaceState(null, "", `#run=${fragment}`);
    this.linked = location.hash;
    try {
      await navigator.clipboard.writeText(location.href);
      this.tell("The link is copied. It is the address of this page now, too.");
    } catch {
      this.tell("The link is the address of this page now.");
    }
  }

  isNamed() {
    return [...this.files.options].some((option) => option.value === this.name);
  }

  async followLink() {
    const found = /^#run=([\w-]+)$/.exec(location.hash);
    const named = /^#file=([\w.-]+)(?:&(protocol|scope|scenario|mutant)=([\w.-]+))?$/.exec(location.hash);
    if (location.hash === this.linked) return true;
    this.linked = location.hash;
    if (named) {
      await this.openFile(named[1], named[2] ? { [named[2]]: named[3] } : {});
      return true;
    }
    if (!found) return false;
    const value = await unpacked(found[1]);
    if (!value || typeof value !== "object") {
      this.tell("The link is damaged: it holds no run.", true);
      return false;
    }
    if (typeof value.text === "string") await this.setText(String(value.name), value.text, value.steps ? {} : value.place ?? {});
    else await this.openFile(String(value.name), value.steps ? {} : value.place ?? {});
    if (!this.summary) return true;
    if (value.steps) await this.begin(value.place ?? {}, value.steps, value.at, value.cycle);
    else this.seek(value.at);
    return true;
  }

  async keep() {
    if (!this.run) return;
    if (this.run.head.frozen) throw new Failed("Kept", "A countermodel is no run of the protocol: it cannot be kept.");
    if (this.config.mode === "kept") throw new Failed("Kept", "This is such a file already.");
    const { run } = this;
    const judged = [];
    const first = run.length <= 200 ? 0 : run.length;
    for (let at = first; at <= run.length; at += 1) judged[at] = await this.ask("judge", { session: run.session, at });
    for (let at = 1; at <= run.length; at += 1) run.steps[at - 1].trail ??= await this.ask("trail", { session: run.session, at });
    const command = `thence play ${this.name}${this.place.mutant ? ` --mutant ${this.place.mutant}` : ""}${run.head.scope ? ` --scope ${run.head.scope}` : ""}`;
    const cycle = run.head.cycle ?? 0;
    const refuted = this.refuted || run.violations.find((each) => each.claimed)?.property || "";
    const { said } = refuted ? await this.ask("refutation", { session: run.session, property: refuted, cycle }) : { said: "" };
    const kept = { rules: this.rules, said, name: this.name, text: this.text, summary: this.summary, command, judged, run: { ...run.head, steps: run.steps, packets: run.packets, end: run.end } };
    const policy = (document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.getAttribute("content") ?? "").replace(/connect-src [^;]*/, "connect-src 'none'").replace(/worker-src [^;]*;?/, "");
    const config = { mode: "kept", name: this.name, at: this.at, start: this.place, command, kept, refuted: refuted !== "" };
    keepAsFile(`${run.head.subject.replace("/", "-")}.html`, documentWith(config, policy), "text/html");
  }

  async scenario() {
    if (!this.run) return;
    if (this.run.head.frozen) throw new Failed("Kept", "A countermodel is no run of the protocol: it is no scenario.");
    if (!this.answers.edits) throw new Failed("Kept", "A kept file writes no scenarios.");
    const found = await this.ask("save", { session: this.run.session, at: Math.min(this.at, this.run.length), name: "played" });
    keepAsFile("played.thence", `${this.text.trimEnd()}\n\n${found.text}`, "text/plain");
    this.tell(`The file with the run as the scenario ${found.name} is being kept; thence run FILE --scenario ${found.name} plays it.`);
  }
}

const ICONS = {
  first: "M1 1h2v12h-2zM13 1v12l-9 -6z", back: "M11 1v12l-9 -6z", play: "M2 0v14l11 -7z", pause: "M2 1h4v12h-4zM8 1h4v12h-4z", forth: "M3 1v12l9 -6z", last: "M11 1h2v12h-2zM1 1v12l9 -6z",
};

function icon(name) {
  return svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

function sessionKept(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null; // a page from the disk has no storage in some browsers
  }
}

function keepInSession(name, value) {
  try {
    sessionStorage.setItem(name, value);
  } catch {
    // as above
  }
}

const player = new Player(/** @type {HTMLElement} */ (document.getElementById("app")), JSON.parse(document.getElementById("config")?.textContent ?? "{}"));
player.guarded(() => player.begun()).then(() => {
  document.documentElement.dataset.ready = "true";
});
