"""The time that a kernel gets. It stands by itself so that the command line starts without NumPy."""

JOB_SECONDS = 120.0  # the default time limit for compiling and running a kernel
