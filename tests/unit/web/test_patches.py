"""What the app replaces in Panel and Bokeh: read in the installed versions, and looked up where it is replaced."""

import inspect
from importlib.metadata import version

import bokeh.server.server
import pytest
from panel.io import document

from splatscope.web.serving import patches


@pytest.mark.parametrize("package", patches.READ_IN)
def test_the_names_were_read_in_the_version_that_is_installed(package):
    assert version(package).rpartition(".")[0] == patches.READ_IN[package], "read what is replaced again, and name this version"


def test_bokeh_builds_its_server_from_the_names_that_are_replaced():
    source = inspect.getsource(bokeh.server.server)
    assert "= HTTPServer(" in source
    assert "= BokehTornado(" in source


def test_panel_writes_with_the_function_that_is_replaced():
    assert ", _dispatch_msgs, " in inspect.getsource(document.schedule_write_events)
