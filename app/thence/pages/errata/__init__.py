"""The errata: what is printed in the papers and does not hold, with the verdicts that show it.

The reading order: `fault` (what an entry is), `faults.toml` (the entries, with the statements of the library that show
each fault, and that its repair holds), `verdicts` (those statements, checked), `page` (docs/errata.md).
`python -m thence.pages.errata` writes the page.
"""
