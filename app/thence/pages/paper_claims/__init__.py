"""The claims of the papers: every numbered item of the five papers, and what the library says of it.

The reading order: `claim` (an entry), `papers/*.toml` (the entries, one file for each paper), `consistency` (what
an entry must have to be called confirmed, measured and so on), `running` (its statements among the results of a
run, and its commands), `table_1` (the model-checking table of Tong, Liittschwager and Kuper, redone), `page`
(docs/library/paper-claims.md).
`python -m thence.pages.paper_claims FOLDER RESULTS.json` writes the page, and fails where a verdict differs from
its entry.
"""
