"""Two servers behind one address, with one state folder: what one has recorded, the other sends, too."""

import re
from urllib.request import urlopen

from helpers.patience import PATIENCE
from helpers.serving import served

RECORDING = re.compile(rb"recordings/[0-9a-f]{16}")


def test_a_recording_is_sent_by_a_server_that_has_not_made_it_and_after_both_were_restarted(tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with served(tmp_path / "other.log", **state) as other:
        with served(tmp_path / "log", **state) as first:
            with urlopen(f"{first}/sections/workgroups?inputs=away%3D3", timeout=300) as lines:
                file = next(found[0].decode() for line in lines if (found := RECORDING.search(line)))
            made = urlopen(f"{first}/{file}", timeout=PATIENCE).read()
        assert urlopen(f"{other}/{file}", timeout=PATIENCE).read() == made
    with served(tmp_path / "later.log", **state) as later:
        assert urlopen(f"{later}/{file}", timeout=PATIENCE).read() == made
