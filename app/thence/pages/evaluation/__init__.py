"""The page of the evaluation: figures, tables and what they say, from the sweeps of the shipped studies."""
