"""The command `splatscope`: one file per subcommand."""
