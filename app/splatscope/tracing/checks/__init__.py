"""What is wrong with a recorded kernel: one file a kind of finding."""
