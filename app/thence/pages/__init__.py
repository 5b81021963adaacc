"""Pages made from verdicts: the report, the library, the statements, the errata, the figures, the comparison, the site.

Begin with `html_report`; `site` is the documentation site. Nothing here judges anything.
"""
