"""Exercises: kernels that a learner mends or writes, and what marks them.

A task is a folder (`task.py`); a kernel is run on its cases in the sandbox and judged outside of it (`marking.py`).
"""
