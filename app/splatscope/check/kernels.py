"""Find the kernels to check in a repository: those that its configuration names, and those whose source asks for it."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from splatscope.api.inputs_file import loaded, read_inputs
from splatscope.api.record import SECONDS, job_of
from splatscope.slang.modules import Module, entries_of
from splatscope.slang.source import Source
from splatscope.tracing.checks import CHECKS
from splatscope.tracing.comments import CommentError, dispatches
from splatscope.tracing.job import MOST_RECORDS, KernelJob

SUFFIXES = (".slang", ".hlsl", ".hlsli", ".compute", ".usf")
CONFIGURATION = "splatscope.toml"
_OPTIONS = (
    "file", "name", "entry", "groups", "group", "vars", "inputs", "defines", "include", "constants", "arguments", "conformances",
    "functions", "device", "timeout", "budget", "allow",
)  # fmt: skip
_TOP = ("kernel", "strict", *(name for name in _OPTIONS if name not in ("file", "name")))  # the options are for all kernels
NOT_DESCRIBED = "It has a kernel, but no splatscope.toml names it, and no “// splatscope: groups=1” in it says how to run it."
UNDESCRIBED_ENTRY = "It has no description, and the check is strict."
_NEVER_OURS = (".git", "node_modules", "__pycache__")  # folders without sources of this repository
_MOST_DEPTH = 12  # levels of folders that are searched


class ConfigurationError(ValueError):
    """The configuration cannot be read or is invalid; the message says where."""

    exit_code = 2  # for the command line


@dataclass(frozen=True)
class Allowance:
    """Kinds of findings that are allowed, separated by commas, and where that is written.

    `place` is a part of the file; "" if the allowance is for the whole file.
    """

    path: Path
    place: str
    kinds: str

    @property
    def words(self) -> str:
        """The file, the place and the kinds, as notes print them."""
        return f"{self.path.name}{self.place and ', '}{self.place}: “allow {self.kinds}”"


@dataclass(frozen=True)
class CheckedKernel:
    """A kernel to check.

    Attributes:
        name: The kernel's name in reports.
        path: Its source file.
        job: The dispatch.
        everywhere: Whether all workgroups are checked.
        device: Part of an adapter's name, or "".
        timeout: The time limit, in seconds.
        allow: Kinds of findings that are allowed everywhere in the kernel, each with where that is written; None for an allowance
            that also covers kernels outside of this run.
        error: Why it cannot be recorded; "" if it can.
        strict: Whether inputs that are not given, and lines that no thread reaches, count as not checked.
    """

    name: str
    path: Path
    job: KernelJob
    everywhere: bool = True
    device: str = ""
    timeout: float = SECONDS
    allow: Mapping[str, Allowance | None] = field(default_factory=dict)
    error: str = ""
    strict: bool = False


@dataclass(frozen=True)
class Undescribed:
    """Kernels that a check leaves out.

    Attributes:
        kernels: (file, entry point) of each that nothing describes.
        skipped: Folders that are not searched, each with its number of files with kernels.
    """

    kernels: tuple[tuple[Path, str], ...] = ()
    skipped: tuple[tuple[Path, int], ...] = ()


def kernels_in(paths: Iterable[Path], here: Path, strict: bool = False) -> tuple[list[CheckedKernel], Undescribed]:
    """Return the kernels to check, and those that nothing describes.

    A file in `paths` whose kernels nothing describes becomes a kernel that cannot be recorded. In a strict check, so does each
    kernel that nothing describes.

    A configuration is a `splatscope.toml`, or `[tool.splatscope]` in a `pyproject.toml`. For each path, the nearest configuration
    at or above it and all those below it are read. So is the one of `here`, which may name files elsewhere.

    Args:
        paths: Files and folders; if there are none, `here`.
        here: The current folder.
        strict: Whether the check is strict for all kernels. A configuration with `strict = true` makes it so for its folder and
            for the kernels that it names.

    Raises:
        ConfigurationError: A path does not exist, or a configuration cannot be read.
    """
    wanted = [path.resolve() for path in paths]
    if missing := [path for path in wanted if not path.exists()]:
        raise ConfigurationError(f"{missing[0]} does not exist.")
    here = here.resolve()
    places = wanted or [here]
    configured: list[CheckedKernel] = []
    strict_folders: list[Path] = []
    for file, settings in _configurations(places, here).items():
        all_there = [replace(kernel, strict=settings.get("strict", False)) for kernel in _configured(file, settings)]
        if settings.get("strict"):
            strict_folders.append(file.parent)
        asked = [
            kernel
            for kernel in all_there
            if not wanted or any(kernel.path == path or path in kernel.path.parents for path in wanted)
        ]
        configured += asked if len(asked) == len(all_there) else map(_without_common, asked)
    named = {(kernel.path, entry) for kernel in configured for entry in _described(kernel)}
    files = list(dict.fromkeys(file for path in places for file in _sources(path)))
    asking = [kernel for file in files for kernel in _asking(file)]
    found = configured + [kernel for kernel in asking if named.isdisjoint((kernel.path, entry) for entry in _described(kernel))]
    known = {kernel.path for kernel in found}
    unknown = [file for file in dict.fromkeys(wanted) if file.is_file() and file not in known and _has_kernel(file)]
    kernels = _numbered(found + [_refused(file, NOT_DESCRIBED) for file in unknown])

    def is_strict(path: Path) -> bool:
        return strict or any(path.is_relative_to(folder) for folder in strict_folders)

    left_out = list(_undescribed({file.resolve() for file in files}, kernels))
    kernels += [_refused(file, UNDESCRIBED_ENTRY, f"{file.name} {entry}") for file, entry in left_out if is_strict(file)]
    skipped = dict(found for path in places for found in _skipped(path) if found[0] not in places)
    kernels = [replace(kernel, strict=kernel.strict or is_strict(kernel.path)) for kernel in kernels]
    return kernels, Undescribed(tuple(one for one in left_out if not is_strict(one[0])), tuple(skipped.items()))


def _described(kernel: CheckedKernel) -> list[str]:
    """Return the entry points that a kernel stands for: its own, or all of its file if it cannot be read."""
    if kernel.job.entry and not kernel.error:
        return [kernel.job.entry]
    entries = _entries(kernel.path)
    return entries if kernel.error else entries[:1]  # without a name it is the first


def _entries(file: Path) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return entries_of(Module("", file.name, text, Source(text, file.name)))


def _undescribed(files: Iterable[Path], kernels: Iterable[CheckedKernel]) -> Iterator[tuple[Path, str]]:
    """Yield (file, entry point) for each kernel in some files that nothing describes. Files with an error are left out."""
    described = {(kernel.path, entry) for kernel in kernels for entry in _described(kernel)}
    for file in sorted(files):
        if _has_kernel(file):
            yield from ((file, entry) for entry in _entries(file) if (file, entry) not in described)


def _skipped(path: Path, depth: int = 0) -> Iterator[tuple[Path, int]]:
    """Yield the folders at and below a path that are not searched but hold kernels, each with its number of such files."""
    for inside in _own_folders(path, depth):
        if not _is_skipped(inside):
            yield from _skipped(inside, depth + 1)
        elif count := _kernel_files(inside, depth + 1):
            yield inside, count


def _kernel_files(folder: Path, depth: int) -> int:
    """Return the number of files at and below a folder that hold kernels, without other people's packages."""
    own = sum(_has_kernel(file) for file in folder.iterdir() if file.is_file())
    return own + sum(_kernel_files(inside, depth + 1) for inside in _own_folders(folder, depth))


def _own_folders(path: Path, depth: int) -> Iterator[Path]:
    """Yield the folders in a folder that may hold a project's own kernels."""
    for inside in sorted(path.iterdir()) if path.is_dir() and depth < _MOST_DEPTH else ():
        if inside.is_dir() and not inside.is_symlink() and inside.name not in _NEVER_OURS and not (inside / "pyvenv.cfg").exists():
            yield inside


def _has_kernel(file: Path) -> bool:
    try:
        return file.suffix in SUFFIXES and bool(re.search(r"\bnumthreads\b", file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return False


def _configurations(places: Iterable[Path], here: Path) -> dict[Path, dict[str, Any]]:
    """Return the configurations that apply to some files and folders, each with its settings. That of `here` comes first."""
    settings = cache(_settings)  # files of one folder share the folders above
    found = [settings(here)]
    for path in places:
        folder = path if path.is_dir() else path.parent
        found.append(next(filter(None, map(settings, (folder, *folder.parents))), None))
        found += map(settings, _folders(path) if path.is_dir() else ())
    return dict(filter(None, found))


def _settings(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    for file, table in ((folder / CONFIGURATION, ()), (folder / "pyproject.toml", ("tool", "splatscope"))):
        if not file.is_file():
            continue
        try:
            settings: Any = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{file.name} cannot be read: {str(error).splitlines()[0]}.") from None
        for key in table:
            settings = settings.get(key, {})
        if settings:
            return file, settings
    return None


def _configured(file: Path, settings: Mapping[str, Any]) -> Iterator[CheckedKernel]:
    """Yield the kernels that a configuration names.

    Raises:
        ConfigurationError: It has an unknown key at the top, or a kernel names no file.
    """
    if unknown := [key for key in settings if key not in _TOP]:
        raise ConfigurationError(f"{file.name}: there is no “{unknown[0]}” at the top. There are {', '.join(_TOP)}.")
    listed = settings.get("kernel", [])
    if not isinstance(listed, list):
        raise ConfigurationError(f"{file.name}: kernel is a list: write [[kernel]], with two brackets.")
    if not isinstance(settings.get("strict", False), bool):
        raise ConfigurationError(f"{file.name}: strict is true or false.")
    shared = {key: value for key, value in settings.items() if key not in ("kernel", "strict")}
    for i, options in enumerate(listed):
        if not isinstance(options, dict) or not isinstance(options.get("file"), str):
            raise ConfigurationError(f"{file.name}: kernel {i + 1} needs a file.")
        kernel = _kernel_or_refused(file.parent / options["file"], shared | options, file.name)
        yield _allowing(kernel, file, f"kernel {i + 1}" if "allow" in options else "")


def _numbered(kernels: list[CheckedKernel]) -> list[CheckedKernel]:
    """Number the kernels of a file that have the same name, for example one kernel with several inputs."""
    names = Counter((kernel.path, kernel.name) for kernel in kernels)
    numbers: Counter[tuple[Path, str]] = Counter()
    found = []
    for kernel in kernels:
        key = kernel.path, kernel.name
        numbers[key] += 1
        found.append(replace(kernel, name=f"{kernel.name} ({numbers[key]})") if names[key] > 1 else kernel)
    return found


def _asking(file: Path) -> Iterator[CheckedKernel]:
    try:
        text = file.read_text(encoding="utf-8")
        asked = [options for options, _ in dispatches(text)]
    except (OSError, UnicodeDecodeError):
        return
    except CommentError as error:
        yield _refused(file, f"{file.name}, {error}")
        return
    for i, options in enumerate(asked):
        name = str(options.get("name") or options.get("entry") or "")
        kernel = _kernel_or_refused(file, options | {"name": f"{file.name} {name}".strip()}, file.name)
        yield _allowing(kernel, file, f"dispatch {i + 1}")


def _allowing(kernel: CheckedKernel, file: Path, place: str) -> CheckedKernel:
    """Return a kernel with the place of each of its allowances filled in."""
    return replace(kernel, allow={kind: Allowance(file, place, kind) for kind in kernel.allow})


def _without_common(kernel: CheckedKernel) -> CheckedKernel:
    """Mark a kernel's shared allowances as covering kernels outside of this run, so that none of them counts as unused."""
    return replace(kernel, allow={kind: one if one and one.place else None for kind, one in kernel.allow.items()})


def _sources(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for folder in _folders(path):
        yield from sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())


def _folders(path: Path, depth: int = 0) -> Iterator[Path]:
    """Yield a folder and those below it that may hold sources."""
    if depth == _MOST_DEPTH:
        return
    yield path
    for inside in sorted(path.iterdir()):
        if inside.is_dir() and not _is_skipped(inside) and not inside.is_symlink():
            yield from _folders(inside, depth + 1)


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in ("build", *_NEVER_OURS)


def _kernel_or_refused(path: Path, options: Mapping[str, Any], where: str) -> CheckedKernel:
    """Return a kernel, or one with an `error` if its options are invalid, so that the other kernels are still checked."""
    try:
        return _kernel(path, options, where)
    except ConfigurationError as error:
        name = options.get("name") or f"{path.name} {options.get('entry', '')}".strip()
        return _refused(path, str(error), str(name))


def _refused(path: Path, error: str, name: str = "") -> CheckedKernel:
    return CheckedKernel(name or path.name, path.resolve(), KernelJob("", path.name), error=error)


def _kernel(path: Path, options: Mapping[str, Any], where: str) -> CheckedKernel:
    if unknown := [key for key in options if key not in _OPTIONS]:
        raise ConfigurationError(f"{where}: there is no option {unknown[0]}. There are {', '.join(_OPTIONS)}.")
    folder = path.parent
    try:
        groups = [int(n) for n in _list(options.get("groups", 1))]
        group = options.get("group", "all")
        given = loaded(dict(options.get("vars", {})), folder)
        if not isinstance(options.get("inputs", ""), str):
            raise ValueError("inputs is the name of a file: values go under vars.")
        if "inputs" in options:
            given = read_inputs(folder / options["inputs"]) | given
        job = job_of(
            path,
            entry=str(options.get("entry", "")),
            groups=groups,
            group=(0, 0, 0) if group in ("all", ["all"]) else [int(n) for n in _list(group)],
            vars=given,
            defines=dict(options.get("defines", {})),
            include_paths=[folder / str(name) for name in _list(options.get("include", []))],
            constants=dict(options.get("constants", {})),
            arguments=[str(name) for name in _list(options.get("arguments", []))],
            conformances=[str(pair) for pair in _list(options.get("conformances", []))],
            functions=[str(name) for name in _list(options.get("functions", []))],
            budget=int(options.get("budget", MOST_RECORDS)),
        )
        timeout = float(options.get("timeout", SECONDS))
        allow = dict.fromkeys(map(str, _list(options.get("allow", []))))
    except (ValueError, TypeError) as error:
        raise ConfigurationError(f"{where}: {error}") from None
    if "texture-races" in allow:
        raise ConfigurationError(f"{where}: races on textures are looked for: drop “texture-races” from allow.")
    if unknown_kinds := allow.keys() - CHECKS.keys():
        raise ConfigurationError(f"{where}: there is no kind of finding {', '.join(sorted(unknown_kinds))}.")
    name = str(options.get("name") or f"{path.name} {job.entry}".strip())
    return CheckedKernel(name, path.resolve(), job, group in ("all", ["all"]), str(options.get("device", "")), timeout, allow)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
