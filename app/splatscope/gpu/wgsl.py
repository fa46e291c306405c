"""Compile Slang to WGSL, for the reader's browser, with the compiler in SlangPy's own wheel.

SlangPy has no interface for targets that it opens no device for, so this calls Slang's C interface (`slang.h`, the part that
`slangc` is made of) in the same library. It does so in a process of its own: with a session of each interface in one process,
SlangPy crashes when it links a kernel later.
"""

import ctypes
import importlib.util
import multiprocessing
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

from splatscope.gpu.kernel import CompileError

WAVES = "enable subgroups;"
_SIGNATURES = {
    "spCreateSession": (ctypes.c_void_p, [ctypes.c_char_p]),
    "spCreateCompileRequest": (ctypes.c_void_p, [ctypes.c_void_p]),
    "spDestroyCompileRequest": (None, [ctypes.c_void_p]),
    "spProcessCommandLineArguments": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int]),
    "spCompile": (ctypes.c_int, [ctypes.c_void_p]),
    "spGetDiagnosticOutput": (ctypes.c_char_p, [ctypes.c_void_p]),
    "spGetEntryPointCode": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_size_t)]),
}


def compile_wgsl(files: Mapping[str, str], linked: Sequence[str], entry: str, defines: Mapping[str, str]) -> str:
    """Return an entry point as WGSL.

    Args:
        files: The text of each Slang file by its name; a module stands in `NAME.slang`.
        linked: The names of the files to link, with what they import: that with the entry point comes first.
        entry: The name of the entry point.
        defines: Macros by name.

    Raises:
        CompileError: It does not compile, or uses what WGSL does not have.
    """
    code, errors = _process().submit(_compile, dict(files), list(linked), entry, dict(defines)).result()
    if errors:
        raise CompileError(errors)
    return code


@cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def _compile(files: dict[str, str], linked: list[str], entry: str, defines: dict[str, str]) -> tuple[str, str]:
    """Return the code and "", or "" and what the compiler reports."""
    library = _library()
    with tempfile.TemporaryDirectory(prefix="splatscope-wgsl-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        macros = [f"-D{name}={value}" for name, value in defines.items()]
        paths = [str(Path(folder) / name) for name in linked]
        options = ["-target", "wgsl", "-I", folder, *macros, paths[0], "-entry", entry, "-stage", "compute", *paths[1:]]
        request = library.spCreateCompileRequest(_session())
        try:
            arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            failed = library.spProcessCommandLineArguments(request, arguments, len(options)) or library.spCompile(request)
            if failed:
                report = (library.spGetDiagnosticOutput(request) or b"").decode().replace(f"{folder}/", "")
                return "", report or "the compiler does not say why"
            size = ctypes.c_size_t()
            code = library.spGetEntryPointCode(request, 0, ctypes.byref(size))
            # A browser cannot prove that all lanes are at work where Slang's kernels use waves.
            text = ctypes.string_at(code, size.value).decode()
            return text.replace(WAVES, f"{WAVES}\ndiagnostic(off, subgroup_uniformity);"), ""
        finally:
            library.spDestroyCompileRequest(request)


@cache
def _library() -> ctypes.CDLL:
    spec = importlib.util.find_spec("slangpy")
    assert spec is not None
    assert spec.origin is not None
    library = ctypes.CDLL(str(next(Path(spec.origin).parent.glob("*slang-compiler*"))))
    for name, (returns, takes) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returns, takes
    return library


@cache
def _session() -> int:
    return _library().spCreateSession(None)
