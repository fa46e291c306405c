"""What pages ask of the workers."""
