"""`thence run --scenario` and `thence run --list`: the named executions of a file."""

from __future__ import annotations

from thence.cli.output import BadInput, Output
from thence.cli.session import check_writable, write_text
from thence.cli.targets import Choice
from thence.dsl.find import known, specification
from thence.proofs.scopes.scenarios import play_scenario
from thence.spec.verdict import Verdict


def run_scenario(choice: Choice, name: str | None, replay: str | None, svg: str | None) -> Output:
    """Plays a scenario of the chosen file; without a name, lists those that there are.

    Raises:
        BadInput: for a name that the file does not have, a file that cannot be written, or options of other runs.
    """
    what = "--list" if name is None else f"--scenario {name}"
    if choice != Choice(choice.file) or replay is not None or (name is None and svg is not None):
        raise BadInput(f"{what} stands alone: a scenario says itself what happens among whom")
    check_writable(svg)
    file = choice.file
    found = specification(file)
    if name is None:
        listed = [{"name": one.name, "subject": one.subject, "doc": one.doc} for one in found.scenarios]
        lines = [f"{one['name']} of {one['subject']}: {' '.join(one['doc'].split()) or '-'}" for one in listed]
        return Output(text="\n".join(lines) or f"{file} has no scenarios", fields={"scenarios": listed}, table=False)
    known(name, tuple(scenario.name for scenario in found.scenarios), "scenario")
    results = play_scenario(next(scenario for scenario in found.scenarios if scenario.name == name))
    shown = next((result for result in results if result.verdict is Verdict.REFUTED), results[0])
    if svg is not None:
        write_text(svg, shown.picture)
    text = shown.explanation if all(result.expected for result in results) else None
    return Output(results=results, text=text, brief=True)
