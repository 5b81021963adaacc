"""Names, types and expressions: the parts of every declaration.

Begin with `expressions`. Knows nothing of protocols, machines and theories as wholes.
"""
