"""Starvation: fair runs in which messages are sent for ever and some message is never delivered.

Begin with `lasso`. The modules `order_*` are the order abstraction, which keeps growing numbers finite: of a number
only its order among the numbers that it is compared with is kept. Knows nothing of solvers and native code.
"""
