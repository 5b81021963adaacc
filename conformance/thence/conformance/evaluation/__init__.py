"""Performance of causal delivery protocols: the shipped implementations on a simulated network.

A simulation runs the real implementation classes. Time is simulated (SimPy); packets have the sizes that the transport
gives them; the processing time of a call is zero or measured on the machine. The same workload and seed give every
system the same sends at the same times.
"""
