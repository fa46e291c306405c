"""What several checks work out from a trace and its sources: memory accesses, orders, dependences. It registers no check."""
