"""Splatscope: an interactive textbook of one real GPU program, and a time-travelling debugger for Slang kernels."""

__version__ = "0.1.0"
