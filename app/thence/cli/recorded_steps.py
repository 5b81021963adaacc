"""The file of `--replay`: the counterexample that `thence explore --json` printed, or a list of steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from thence.cli.output import BadInput
from thence.spec.json_objects import json_value


def recorded_steps(path: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The steps in a file, and the properties that its results say they violate. Raises: BadInput."""
    try:
        found = json_value(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON: {error}") from error
    about: tuple[str, ...] = ()
    if isinstance(found, dict) and isinstance(found.get("results"), list):
        results = [result for result in found["results"] if isinstance(result, dict)]
        shown = next((result for result in results if result.get("counterexample")), None)
        if shown is None:
            raise BadInput(f"{path} holds no counterexample")
        found = shown["counterexample"]
        about = (shown["property"],) if isinstance(shown.get("property"), str) else ()
    if not isinstance(found, list) or not all(isinstance(step, dict) for step in found):
        raise BadInput(f"{path} holds neither results of explore nor a list of steps")
    return found, about
