"""Pages made from verdicts: the report, the statements, the errata, the figures, the comparison, the mutation score.

Begin with `html_report`. Nothing here judges anything.
"""
