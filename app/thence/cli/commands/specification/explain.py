"""`thence explain`: what a code of a diagnostic means, why it is so, and how it is written right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Optional

import typer

from thence.cli.options import Json
from thence.cli.output import BadInput, Output
from thence.cli.session import Session, run_command
from thence.dsl.check.explained import explained
from thence.dsl.text.diagnostics import CODES
from thence.dsl.text.explanations import CHAPTERS, Explanation, explanation, near_codes, words


def explain(
    codes: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Codes such as E0131, verdicts such as unknown, or levels such as L3. By default, a list."),
    ] = None,
    json: Json = False,
) -> None:
    """Explains codes and words, or lists them."""

    def body(_session: Session) -> Output:
        if not codes:
            listed = [{"name": code, "title": title} for code, title in CODES.items()]
            return Output(text="\n".join(_list()), fields={"explanations": listed})
        found = [_found(code) for code in codes]
        text = "\n\n".join(map(explained, found))
        return Output(text=text, fields={"explanations": [each.to_json() for each in found]})

    run_command("explain", json, body)


def _found(name: str) -> Explanation:
    found = explanation(name)
    if found is not None:
        return found
    near = near_codes(name)
    hint = f"did you mean {' or '.join(near)}?" if near else "'thence explain' lists all codes"
    raise BadInput(f"there is no code {name}; {hint}")


def _list() -> Iterator[str]:
    for prefix, title in CHAPTERS.items():
        yield title
        yield from (f"  {code}  {CODES[code]}" for code in sorted(CODES) if code.startswith(prefix))
        yield ""
    yield "Verdicts and levels"
    yield f"  {', '.join(words())}"
