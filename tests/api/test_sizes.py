"""Sizes of memory."""

from __future__ import annotations

import pytest

from thence.api.errors import BadRequest
from thence.api.sizes import LEAST, byte_size


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [("1048576", LEAST), ("1M", LEAST), ("1.5GB", 3 * 2**29), (" 4 g ", 2**32), ("500MiB", 500 * 2**20), ("1T", 2**40)],
)
def test_sizes(given: str, bytes_: int) -> None:
    assert byte_size("--memory", given) == bytes_


@pytest.mark.parametrize("given", ["", "much", "1K", "0", "-1G", "1e9", "1048575", "4 P", "\u0664G"])
def test_what_is_no_size(given: str) -> None:
    with pytest.raises(BadRequest, match=r"--memory .*give a size from 1M up"):
        byte_size("--memory", given)
