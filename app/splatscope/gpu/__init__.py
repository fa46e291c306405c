"""Devices, compiled kernels, buffers, reflection, and the types and diagnostics of Slang."""
