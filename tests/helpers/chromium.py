"""Flags for the tests' browsers, and the hosts that pages may contact."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WEBGPU = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")  # Chromium's own device in software
LOCAL = {"localhost", "127.0.0.1"}
