"""Names, types and expressions: what every declaration is made of.

Begin with `expressions`. Knows nothing of protocols, machines and theories as wholes.
"""
