"""What `panel serve app` runs: one session's page."""

from splatscope.web.shell.shell import serve

serve()
