"""Run the command line as `python -m splatscope.cli`."""

from splatscope.cli.main import main

main()
