"""Descriptions of kernels are written into the repository, and nowhere else."""

from pathlib import Path

import pytest

from splatscope.check.kernels import CONFIGURATION, Undescribed
from splatscope.check.recorder import Workers
from splatscope.check.repository import Repository
from splatscope.cli.check import _init
from splatscope.cli.errors import CallError


@pytest.mark.parametrize("is_open", [False, True])
def test_a_description_does_not_follow_a_link_out_of_a_repository_that_is_not_trusted(tmp_path: Path, is_open: bool):
    folder, outside = tmp_path / "repository", tmp_path / "outside.toml"
    folder.mkdir()
    (folder / CONFIGURATION).symlink_to(outside)  # there is no such file
    undescribed = Undescribed(((folder / "missing.slang", "main"),))
    if is_open:
        assert _init([], undescribed, folder, Workers(), Repository(folder)) == 0
    else:
        with pytest.raises(CallError, match="a link in the repository leads elsewhere"):
            _init([], undescribed, folder, Workers(), Repository(folder, is_open=False))
    assert outside.exists() == is_open
