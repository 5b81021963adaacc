"""The examples at the end of each command's help. Each is run by a test, in this order, in a folder that has the
specification `numbered.thence`, the module `mine`, the program `adapter`, and the recording `run.ndjson`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """A command line, and a sentence that says what it does."""

    line: str
    says: str


EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "": (
        Example("thence explore rst", "Explore a protocol of the library."),
        Example("thence check numbered.thence", "Check a file of your own."),
        Example(
            "thence conform rst --impl thence.impl.rst:RST", "Test a class against the protocol that it implements."
        ),
    ),
    "check": (
        Example("thence check numbered.thence", "Check a file of your own."),
        Example("thence check rst mf cykas", "Check several files of the library."),
    ),
    "explain": (
        Example("thence explain E0131", "Explain the code of a diagnostic."),
        Example("thence explain", "List all codes."),
        Example("thence explain L3", "Explain a level of evidence or a verdict."),
    ),
    "fmt": (
        Example("thence fmt numbered.thence", "Format a file in place."),
        Example("thence fmt --check numbered.thence", "In CI: change nothing, and fail where a file would change."),
    ),
    "run": (
        Example("thence run rst --scope two", "Print one random run of a scope, step by step."),
        Example("thence run rst --scope two --seed 7 --svg run.svg", "Print another one, and draw it."),
        Example("thence run mf --list", "List the scenarios of a file."),
        Example("thence run mf --scenario mf_figure_2", "Play a scenario."),
    ),
    "repl": (
        Example(
            "thence repl rst --scope two", "Step through a scope, forwards and backwards; help says what can be asked."
        ),
        Example("thence repl rst --mutant no_merge", "Step through a planted fault."),
    ),
    "play": (
        Example("thence play rst --scope two", "Watch a protocol in the browser; Ctrl-C ends it."),
        Example("thence play mf --scenario mf_figure_2", "Watch a figure of a paper."),
        Example("thence play mf --scenario mf_figure_2 --html figure.html", "Keep a run as one file for others."),
    ),
    "explore": (
        Example("thence explore rst", "Explore every scope of a file."),
        Example(
            "thence explore rst --processes 2 --sends 2,1",
            "Explore a scope of your own: two processes, of which one sends two messages and one sends one.",
        ),
        Example("thence explore rst --mutant no_merge --scope two", "See how a planted fault is found."),
        Example(
            "thence explore rst --mutant no_merge --scope two --html run.html",
            "Write the counterexample as a page that plays it step by step.",
        ),
    ),
    "export": (
        Example("thence export rst --scope two", "Write a protocol in a scope as TLA+ modules, in the folder tla."),
    ),
    "lsp": (Example("thence lsp", "Serve an editor, which starts this command itself."),),
    "prove": (
        Example("thence prove fifo", "Prove all that a file states: theorems, machines and links."),
        Example(
            "thence prove mf causal", "Prove a property of a machine, the link, and so the property of the protocol."
        ),
        Example("thence prove fifo --cores", "Also say which hypotheses each proof uses."),
        Example("thence prove fifo --fragment", "Also say which proofs lie in the decidable fragment."),
        Example("thence prove happens_before --certificate evidence", "Write a certificate that others can check."),
    ),
    "bmc": (
        Example("thence bmc rst --depth 4 --scope pair", "Look for a violation within four steps."),
        Example(
            "thence bmc synchronous rendezvous --depth 2", "Look for a run of a machine that violates it, of any size."
        ),
    ),
    "infer": (
        Example(
            "thence infer synchronous rendezvous --hide all",
            "Find the invariants of a machine of the library, as if it had none.",
        ),
        Example(
            "thence infer cbcast 'cbcast to vector_clocks' --hide all",
            "Find those of a link: how a protocol follows its machine.",
        ),
    ),
    "recheck": (Example("thence recheck evidence --jobs 1", "Check a certificate that somebody gave you."),),
    "conform": (
        Example("thence conform --impl mine:Direct --cases 20", "Test a class of your own against the oracle alone."),
        Example(
            "thence conform rst --impl thence.impl.rst:RST --cases 20",
            "Test a class against the protocol that it implements.",
        ),
        Example(
            'thence conform --exec "python3 adapter.py" --cases 5',
            "Test a program in any language that speaks thence-exec/1.",
        ),
    ),
    "mutate": (Example("thence mutate fifo --limit 2", "Put two faults into each part of a file."),),
    "demo": (Example("thence demo rst --messages 5", "Run an implementation over a bad network for a moment."),),
    "trace check": (
        Example("thence trace check run.ndjson", "Judge a recorded execution."),
        Example("thence trace check run.ndjson other.ndjson", "Judge several, each by itself."),
    ),
    "trace convert": (
        Example("thence trace convert run.ndjson -o run.itf.json --to itf", "Write a recorded execution as ITF."),
    ),
    "trace draw": (Example("thence trace draw run.ndjson --svg run.svg", "Draw a recorded execution."),),
    "campaign start": (
        Example(
            "thence campaign start night --protocol rst --cases 100000",
            "Start a campaign of a hundred thousand cases in the folder night.",
        ),
    ),
    "campaign resume": (Example("thence campaign resume night", "Go on with a campaign that was stopped."),),
    "campaign status": (Example("thence campaign status night", "Say how far a campaign is."),),
    "campaign report": (Example("thence campaign report night", "Write the report of a campaign."),),
    "verify": (
        Example("thence verify fifo", "Check everything that one file of the library states."),
        Example("thence verify fifo --only lost", "Check what it states about one scope."),
        Example("thence verify", "Check the whole library. It takes some minutes."),
    ),
    "executions": (
        Example("thence executions", "Show what separates the kinds of executions."),
        Example("thence executions fifo --messages 2 --processes 2", "Count the executions of a protocol, by kind."),
    ),
    "compare": (Example("thence compare rst mf", "Compare the costs of two implementations."),),
    "evaluate": (
        Example(
            "thence evaluate rst mf --processes 3 --messages 5 --repeat 1",
            "Measure two implementations side by side on a simulated network.",
        ),
    ),
    "sweep": (Example("thence sweep", "List the shipped studies, which are swept by their names."),),
    "matrix": (
        Example(
            "thence matrix rst --impl thence.impl.rst:RST --cases 5",
            "Drive a class under each assumption about channels.",
        ),
    ),
    "cover": (Example("thence cover rst --cases 5", "See what each scheduler reaches of a protocol."),),
}
