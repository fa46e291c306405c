"""What `splatscope.capture` is made of.

`programs` makes jobs of what `splatscope.slangpy_hooks` remembers, `calls` sees the dispatches of a block of code, and
`reading` copies what they are bound to, with a kernel in their place.
"""
