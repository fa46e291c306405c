"""Vulkan's software drivers on this machine: Mesa's, which the tests run on, and Chromium's."""

from pathlib import Path

MESA = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp*.json"))
CHROMIUM = sorted(Path("/usr/lib").glob("chromium*/vk_swiftshader_icd.json"))
