"""The public interface, for scripts, tests and notebooks. The command line is a thin user of it.

Import what is here from `splatscope` itself; docs/api.md describes it.
"""
