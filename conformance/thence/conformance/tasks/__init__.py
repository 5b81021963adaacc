"""Tasks: many pieces of work that do not depend on each other, done in processes of this machine or on Spark.

Begin with `pool`: a pool takes tasks, and has a future for each. `processes` is the pool of this machine,
`campaign.scattered` the one on Spark; whoever has tasks does not know which it is. `running` runs all of them, and
`kept_results` keeps what each came to from run to run. `lanes` does tasks that hand over what they have when they are
interrupted. Nothing here knows what a task is about.
"""
