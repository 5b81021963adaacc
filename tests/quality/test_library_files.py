"""The shipped library is in canonical form, without a diagnostic, and every declaration is documented."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl.load import library, load
from thence.dsl.write.format import format_source


@pytest.mark.long(but=("cykas_printed", "hybrid_basic_printed", "hybrid_multicast_printed", "happens_before"))
@pytest.mark.parametrize("path", library(), ids=lambda path: path.stem)
def test_canonical_and_without_diagnostics(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_source(text, str(path)) == (text, ())
    loaded = load(str(path))
    assert loaded.specification is not None
    assert loaded.diagnostics == ()
    assert loaded.specification.doc
