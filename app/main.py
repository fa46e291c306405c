"""What `panel serve app` runs: one session's page."""

from splatscope.web.serving.session import serve

serve()
