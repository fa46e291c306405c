"""The renderer and its training: settings, state, kernels, trainer. It is independent of any user interface."""
