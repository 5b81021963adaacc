"""`python -m thence.conformance.mutation FATES DOCS` makes the page of the library's mutation score."""

from __future__ import annotations

import sys

from thence.pages.mutation import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
