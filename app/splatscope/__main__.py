"""Run the command line as `python -m splatscope`."""

from splatscope.cli.main import main

main()
