"""The parts of `splatscope.capture`.

`notes` keeps what SlangPy forgets of a program, and `programs` turns it into a job. `calls` intercepts the dispatches in a block of
code. `reading` copies the inputs of a dispatch, by a kernel that is bound in its place.
"""
