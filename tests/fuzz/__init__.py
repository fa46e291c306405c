"""A fuzzer: kernels made from Slang's grammar, whose recorded and plain forms must leave the same buffers.

`python -m tests.fuzz --count 300 --seed 1 --processes 2` makes, records and compares them, and prints a summary as JSON.
"""
