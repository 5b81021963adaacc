"""The errata: printed claims of the papers that do not hold, with the verdicts that show it.

The reading order: `fault` (an entry), `faults.toml` (the entries, with the statements of the library that show
each fault, and that its repair holds), `verdicts` (those statements, checked), `claims` (what the verdicts come to),
`page` (docs/library/errata.md), `letters` (docs/library/letters).
`python -m thence.pages.errata` writes the page.
"""
