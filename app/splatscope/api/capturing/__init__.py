"""The parts of `splatscope.capture`.

`programs` turns the notes of `splatscope.slangpy_hooks` into jobs. `calls` intercepts the dispatches in a block of code. `reading`
copies the inputs of a dispatch, by a kernel that is bound in its place.
"""
