"""The command `splatscope`: one file a subcommand."""
