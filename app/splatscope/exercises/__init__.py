"""Exercises: kernels that a learner repairs or writes, and the code that marks them.

A task is a folder (`task.py`). A submitted kernel runs on the task's cases in the sandbox and is judged outside (`marking.py`).
"""
