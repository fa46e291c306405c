"""The check of a repository: which kernels there are and with what inputs, what is wrong with them, and reports of it."""
