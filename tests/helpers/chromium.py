"""Flags for the tests' browser, and the hosts that pages may contact."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOCAL = {"localhost", "127.0.0.1"}
