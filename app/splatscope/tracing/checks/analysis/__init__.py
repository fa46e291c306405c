"""Analyses that several checks share: memory accesses, the order of events, dependences in the sources. None registers a check."""
