"""The files that a run reads and writes: pictures, its state, its Gaussians, an animation."""
