"""Sandboxed processes, in which sources from pages are compiled and run."""
