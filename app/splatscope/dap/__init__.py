"""A server of the Debug Adapter Protocol, by which editors step through a recording."""
