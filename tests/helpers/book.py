"""The sections that the book has for good. One that is added need not be named here or anywhere else."""

BOOK = (
    "gaussian", "binned", "premultiply", "blending", "termination", "undo", "final-count", "pipeline", "dispatch-ids",
    "coarse-raster", "bitonic-sort", "fine-raster", "background", "workgroups", "reduction", "cas", "caching", "autodiff",
    "training-loop", "adam",
)  # fmt: skip
