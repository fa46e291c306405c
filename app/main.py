"""What `panel serve app` runs: one session's page."""

from splatscope.web.session import serve

serve()
