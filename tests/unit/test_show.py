"""`Recording.show` where there is no notebook."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

from splatscope.api import recording


def test_where_no_browser_opens_the_page_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(recording, "_notebook", lambda: None)
    monkeypatch.setattr(recording.webbrowser, "open", lambda address: False)
    recording.Recording.show(SimpleNamespace(_page=lambda layout: f"<p>The {layout}</p>"))
    said = capsys.readouterr().out
    assert Path(said.rpartition(" ")[2].strip()).read_text() == "<p>The bench</p>"


def test_a_marimo_notebook_shows_it_in_its_cell(monkeypatch):
    shown = []
    marimo = SimpleNamespace(running_in_notebook=lambda: True, output=SimpleNamespace(append=shown.append), Html=str)
    monkeypatch.setitem(recording.sys.modules, "marimo", marimo)
    recording.Recording.show(SimpleNamespace(_repr_mimebundle_=lambda height, layout: {"text/html": f"{height}, {layout}"}))
    assert shown == ["720, bench"]
