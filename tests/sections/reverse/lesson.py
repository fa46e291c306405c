"""A small section, to be added to a copy of the book."""

from typing import TypedDict

import numpy as np
import param

from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Verdict
from splatscope.tracing.job import KernelJob


class Facts(TypedDict):
    """What the drawing is given."""

    count: int


class Reverse(Lesson):
    """Eight numbers in shared memory."""

    first = param.Integer(default=1, bounds=(0, 99), label="First number")

    def job(self) -> KernelJob:
        """Return a dispatch of one workgroup."""
        return self.kernel(entry="turnAround", inputs={"reversed": np.zeros(8, np.uint32), "first": np.uint32(self.first)})

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the number of cells."""
        return {"count": len(query.output("reversed"))}

    def last(self, query: RecordingQuery) -> Answer:
        """Return the number in the last cell."""
        return Answer(str(query.output("reversed")[-1]), (str(self.first), str(self.first + 7)))

    @param.depends("first")
    def in_order(self, experiment: Experiment) -> Verdict:
        """Try whether the numbers rise."""
        numbers = experiment.run(self.job())["reversed"].astype(int)
        return Verdict(bool(np.all(np.diff(numbers) > 0)), " ".join(map(str, numbers)), "They fall.")
