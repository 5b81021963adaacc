"""What all tests have in common: no answer of a solver comes from an earlier run."""

from __future__ import annotations

import os

os.environ["THENCE_CACHE"] = "off"
