"""The kernels that the debugger offers to open."""
