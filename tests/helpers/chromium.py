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
# A script for a page with WebGPU: it keeps all devices that are opened, so that a test can end one.
DEVICES = """
    window.devices = []
    const request = window.GPUAdapter?.prototype.requestDevice
    if (request) GPUAdapter.prototype.requestDevice = async function (...options) {
        const device = await request.apply(this, options)
        devices.push(device)
        return device
    }
"""
LOCAL = {"localhost", "127.0.0.1"}
