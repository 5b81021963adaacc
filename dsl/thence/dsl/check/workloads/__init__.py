"""Workloads: from the settings of a scope, and back. Begin with `workload`."""
