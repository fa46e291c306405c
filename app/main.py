"""What `panel serve app` runs: one session's page."""

from splatscope.ui.shell import serve

serve()
