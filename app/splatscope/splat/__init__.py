"""The renderer and its training: settings, state, kernels, the trainer. It is independent of any user interface."""
