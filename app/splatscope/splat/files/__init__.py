"""What a run reads and leaves behind: pictures, its state, its Gaussians, an animation."""
