"""Start the tests' browser, and collect errors and forbidden requests of pages."""

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
