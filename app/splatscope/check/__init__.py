"""`splatscope check`: find the kernels of a repository and their inputs, record them, and report what is wrong with them."""
