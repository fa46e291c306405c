"""Compile a module whose text does not change once, and keep Slang's intermediate code for later processes.

Loading that code takes 5 ms where compiling the recorder's module takes 150 ms. It is the same for all devices and macros.
"""

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

import slangpy as spy

from splatscope.gpu.device import COMPILER_OPTIONS

SUFFIX = ".slang-module"  # Slang finds such a file by `import`, as it finds a source
MOST_KEPT = 12  # files of one name: for other devices, and of other versions of the text and of Slang
WRITTEN_WITHIN = 20.0  # seconds
_compiled: dict[str, bytes] = {}  # by name of the file in which it is kept


def precompiled(device: spy.Device, name: str, text: str) -> bytes:
    """Return the compiled module `name`, to be written to a file `name` + SUFFIX in a folder that Slang searches.

    Args:
        device: Any device; it compiles the module if no process has done so before.
        name: The module's name.
        text: Its source, which imports nothing but Slang's own modules.

    Raises:
        RuntimeError: The source does not compile.
    """
    digest = hashlib.sha256("\0".join((spy.SGL_GIT_VERSION, spy.SLANG_BUILD_TAG, name, text)).encode()).hexdigest()
    file = _folder() / f"{name}-{digest[:16]}{SUFFIX}"
    if file.name not in _compiled:
        try:
            _compiled[file.name] = file.read_bytes()
        except OSError:
            _compiled[file.name] = _compile(device, name, text)
            _keep(file, _compiled[file.name])
    return _compiled[file.name]


def read_ahead() -> None:
    """Read all that is kept, for processes that are forked from this one and may read no files."""
    for file in _folder().glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            _compiled[file.name] = file.read_bytes()


def _folder() -> Path:
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "splatscope")
    except RuntimeError:  # the user has no home, as in some containers: nothing can be kept
        return Path(os.devnull, "splatscope")


def _compile(device: spy.Device, name: str, text: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="splatscope-") as folder:
        Path(folder, f"{name}.slang").write_text(text, encoding="utf-8")
        options = spy.SlangCompilerOptions({**COMPILER_OPTIONS, "include_paths": [folder]})
        device.create_slang_session(compiler_options=options, cache_path=folder).load_module(name)
        end = time.monotonic() + WRITTEN_WITHIN
        while not (files := list(Path(folder).rglob(f"*{SUFFIX}"))):  # SlangPy writes it on another thread, under another name
            if time.monotonic() > end:
                raise RuntimeError(f"Slang wrote no code of {name} to {folder}: is the disk full?")
            time.sleep(0.002)
        return files[0].read_bytes()


def _keep(file: Path, code: bytes) -> None:
    """Write a file that another process may read or write at the same time. If that fails, the next process compiles again."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as new:
            new.write(code)
        os.replace(new.name, file)
        of_that_name = file.parent.glob(f"{file.name.removesuffix(SUFFIX).rpartition('-')[0]}-*{SUFFIX}")
        for old in sorted(of_that_name, key=os.path.getmtime)[:-MOST_KEPT]:
            old.unlink()
