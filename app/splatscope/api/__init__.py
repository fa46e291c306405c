"""The public interface, for scripts, tests and notebooks. The command line is a thin layer over it.

Import these names from `splatscope` itself; docs/api.md describes them.
"""
