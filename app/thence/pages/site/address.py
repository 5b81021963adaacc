"""The permanent address of a statement: `library/FILE.html#machine-buffers-causal`.

An address is made of the names in the library's text alone. It stays as long as the statement keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def address(result: Mapping[str, Any]) -> str:
    """The anchor of a result on the page of its file: kind, subject, name."""
    return re.sub(r"\W+", "-", f"{result['kind']} {result['subject']} {result['name']}").strip("-")
