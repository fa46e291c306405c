"""Rewriting Slang so that it records what it does."""
