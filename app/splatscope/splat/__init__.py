"""The renderer as a program: settings, state, kernels, the trainer. Knows no user interface."""
