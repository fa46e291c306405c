"""Hides the packages of `splatscope[app]` from a process and from all that it starts, if this folder is on its PYTHONPATH."""

import os
import sys


class Hidden:
    """Finds nothing for the packages that SPLATSCOPE_HIDDEN names, with spaces in between."""

    names = frozenset(os.environ["SPLATSCOPE_HIDDEN"].split())

    @classmethod
    def find_spec(cls, name: str, *_: object) -> None:
        if name.partition(".")[0] in cls.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hidden)
