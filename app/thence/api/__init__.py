"""Thence from Python: `import thence.api as th`.

`load` reads a file, `check` says what is wrong with one, `explore` and `prove` judge what it states, `simulate`,
`replay` and `play` run its protocols, `conform` drives an implementation, `judge` judges recorded executions. Results
are frozen objects with the fields of the JSON (docs/reference/json.md). Whatever a caller can get wrong is a
`UserError`.

Begin with `specifications` and `statements`. A name is imported when it is used: nothing of a solver is loaded by a
test of a class. This package knows nothing of the command line, and prints nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from thence.api.conforming import Conformance, conform
    from thence.api.errors import BadRequest
    from thence.api.exploring import Exploration, explore
    from thence.api.proving import Proofs, prove
    from thence.api.recordings import Recordings, judge
    from thence.api.running import play, replay, simulate
    from thence.api.specifications import Check, Source, Specification, check, load, loads
    from thence.api.statements import Claim, Execution, Explored, Proved, Recording, Results, Statement
    from thence.conformance.extras import ExtraMissing
    from thence.dsl.find import Rejected
    from thence.dsl.load import library
    from thence.impl.commands import Deliver, Send
    from thence.spec.user_error import UserError
    from thence.spec.verdict import Level, Verdict

_PLACES: Final = {
    "thence.api.conforming": ("Conformance", "conform"),
    "thence.api.errors": ("BadRequest",),
    "thence.api.exploring": ("Exploration", "explore"),
    "thence.api.proving": ("Proofs", "prove"),
    "thence.api.recordings": ("Recordings", "judge"),
    "thence.api.running": ("play", "replay", "simulate"),
    "thence.api.specifications": ("Check", "Source", "Specification", "check", "load", "loads"),
    "thence.api.statements": ("Claim", "Execution", "Explored", "Proved", "Recording", "Results", "Statement"),
    "thence.dsl.find": ("Rejected",),
    "thence.dsl.load": ("library",),
    "thence.impl.commands": ("Deliver", "Send"),
    "thence.conformance.extras": ("ExtraMissing",),
    "thence.spec.user_error": ("UserError",),
    "thence.spec.verdict": ("Level", "Verdict"),
}
"""The module of each public name."""

_MODULES: Final = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "BadRequest",
    "Check",
    "Claim",
    "Conformance",
    "Deliver",
    "Execution",
    "Exploration",
    "Explored",
    "ExtraMissing",
    "Level",
    "Proofs",
    "Proved",
    "Recording",
    "Recordings",
    "Rejected",
    "Results",
    "Send",
    "Source",
    "Specification",
    "Statement",
    "UserError",
    "Verdict",
    "check",
    "conform",
    "explore",
    "judge",
    "library",
    "load",
    "loads",
    "play",
    "prove",
    "replay",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """A public name, from the module that defines it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
