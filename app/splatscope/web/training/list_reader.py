"""The map of the tiles' lists, read tile by tile with the arrow keys."""

import numpy as np
import param

from splatscope.splat.progress_report import ProgressReport
from splatscope.web.runtime.component import Component, Typed


class ListReader(Component):
    """Lies over the map of list lengths: says and shows the length of one tile's list."""

    lengths = param.Bytes(default=b"", doc="Length of each tile's list, row by row, uint32; empty without lists")
    columns = param.Integer(default=1, doc="Tiles in a row")
    tile = Typed(tuple[int, int], default=(1, 1), doc="Width and height of a tile, in pixels")

    def show(self, report: ProgressReport) -> None:
        """Read another report's lists."""
        lengths = report.list_lengths
        columns = lengths.shape[1] if lengths.size else 1
        self.param.update(lengths=lengths.astype(np.uint32).tobytes(), columns=columns, tile=list(report.tile[:2]))
