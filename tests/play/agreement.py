"""What the interpreter says of every small scope of the library: run by this Python, and by the one in the browser.

`digest` is called in both; it uses nothing that a browser lacks.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from thence.dsl.load import library
from thence.play.backend.backend import Backend


def digest(limit: int, most_scopes: int) -> dict[str, list[Any]]:
    """Of each scope: a hash of its verdicts, counts, counterexamples and the states along them, and the counts."""
    found: dict[str, list[Any]] = {}
    for path in library():
        backend = Backend(engine="interpreted")
        loaded = backend.call("load", backend.call("open", {"name": path.stem}))
        scopes = [(one["name"], scope["name"]) for one in loaded["summary"]["protocols"] for scope in one["scopes"]]
        for protocol, scope in scopes[:most_scopes]:
            start = {"spec": loaded["spec"], "protocol": protocol, "scope": scope}
            explored = backend.call("explore", {**start, "limit": limit})
            results = explored.get("results", [explored])
            for each in results:
                each.pop("seconds", None)
            runs = [backend.call("start", {**start, "steps": each["steps"]}) for each in results if each.get("steps")]
            for run in runs:
                run.pop("session", None)
            said = json.dumps([results, runs], sort_keys=True, ensure_ascii=True)
            states = [each.get("states") for each in results]
            verdicts = [each.get("verdict") for each in results]
            found[f"{path.stem}/{scope}"] = [sha256(said.encode()).hexdigest(), states, verdicts]
    return found
