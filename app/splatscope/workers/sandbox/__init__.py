"""Confined processes in which sources that came from a page are compiled and run."""
