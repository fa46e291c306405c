"""Run the command line by `python -m splatscope.cli`."""

from splatscope.cli.main import main

main()
