"""A training run on its own: its bar, its picture and its target."""

from splatscope.web.runtime.component import Child, Component


class TrainingBench(Component):
    """The bar of a run above its picture and its target."""

    bar = Child(doc="A RunBar")
    picture = Child(doc="A TrainingPicture")
    target = Child(doc="A Frame")
