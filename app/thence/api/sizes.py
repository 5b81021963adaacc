"""Sizes of memory with units, such as 500M."""

from __future__ import annotations

import re

from thence.api.errors import BadRequest

LEAST = 2**20
"""The smallest size that is accepted: a mebibyte."""


def byte_size(option: str, given: str) -> int:
    """Bytes: 500M, 4G, 1.5GB; without a unit, bytes. Raises: BadRequest for other texts, and sizes below `LEAST`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", given.strip(), re.IGNORECASE | re.ASCII)
    size = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if size < LEAST:
        raise BadRequest(f"{option} {given}: give a size from 1M up, such as 500M or 4G")
    return size
