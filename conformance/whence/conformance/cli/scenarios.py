"""`whence run --scenario` and `whence run --list`: the named executions of a file."""

from __future__ import annotations

from whence.conformance.cli.session import Output, check_writable, write_text
from whence.conformance.cli.specifications import known, specification
from whence.proofs.scenarios import play_scenario
from whence.spec.verdict import Verdict


def run_scenario(file: str, name: str | None, svg: str | None) -> Output:
    """Plays a scenario of the file; without a name, lists those that there are.

    Raises:
        BadInput: for a name that the file does not have, or a file that cannot be written.
    """
    check_writable(svg)
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
