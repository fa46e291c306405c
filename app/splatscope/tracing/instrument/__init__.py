"""Rewrite Slang code so that it records what it does."""
