"""The sections that the book always has. A section that is added need not be named, here or anywhere else."""

from splatscope.paths import LESSONS
from splatscope.recordings.shipped import FILES
from splatscope.textbook.contents import lesson_names

BOOK = (
    "gaussian", "binned", "premultiply", "blending", "termination", "undo", "final-count", "pipeline", "dispatch-ids",
    "coarse-raster", "bitonic-sort", "fine-raster", "background", "workgroups", "reduction", "cas", "caching", "autodiff",
    "training-loop", "adam",
)  # fmt: skip

# (section, "gpu" or "software") for each recording that ships. A section that is added may have none.
SHIPPED = [(stem, shipped) for stem in lesson_names() for shipped, name in FILES.items() if (LESSONS / stem / name).is_file()]
