"""Find the kernels to check in a repository: those that its configuration names, and those whose source asks for it."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from splatscope.api.record import SECONDS, job_of
from splatscope.check.jobs import Inputs, entries
from splatscope.check.repository import MOST_TEXT, Repository, resolved
from splatscope.printable import printable
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
_MOST_SECONDS = 86_400  # of a kernel's time limit
_MOST_DEVICE = 80  # bytes in the name of a device
_MOST_PARTS = 30
# Possessive, and only from the start of a word: a long word takes no time.
_LONG_KEY = re.compile(rf"""(?:(?:(?<![\w-])[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}""")


class ConfigurationError(ValueError):
    """The configuration cannot be read or is invalid; the message says where."""

    exit_code = 2  # for the command line

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


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
        job: The dispatch, without inputs. The first of its `include` is the root of the repository, which `file` is relative to.
        everywhere: Whether all workgroups are checked.
        device: Part of an adapter's name, or "".
        timeout: The time limit, in seconds.
        allow: Kinds of findings that are allowed everywhere in the kernel, each with where that is written; None for an allowance
            that also covers kernels outside of this run.
        error: Why it cannot be recorded; "" if it can.
        strict: Whether inputs that are not given, and lines that no thread reaches, count as not checked.
        inputs: The inputs, whose files are not read yet.
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
    inputs: Inputs = field(default_factory=Inputs)


@dataclass(frozen=True)
class Undescribed:
    """Kernels that a check leaves out.

    Attributes:
        kernels: (file, entry point) of each that nothing describes.
        skipped: Folders that are not searched, each with its number of files with kernels.
        unread: Files and folders that are not read, each with a sentence that says why.
    """

    kernels: tuple[tuple[Path, str], ...] = ()
    skipped: tuple[tuple[Path, int], ...] = ()
    unread: tuple[tuple[Path, str], ...] = ()


EntryPoints = Callable[[str], list[str]]
"""Returns the names of the entry points in a text. Raises ValueError with a sentence that says why it cannot."""


def kernels_in(
    paths: Iterable[Path],
    here: Path,
    strict: bool = False,
    repository: Repository | None = None,
    entry_points: EntryPoints = entries,
) -> tuple[list[CheckedKernel], Undescribed]:
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
        repository: The files that may be read; by default all.
        entry_points: Finds the entry points in a text.

    Raises:
        ConfigurationError: A path does not exist, or a configuration cannot be read.
    """
    requested_paths = [resolved(path) for path in paths]
    if missing := [path for path in requested_paths if not path.exists()]:
        raise ConfigurationError(f"{missing[0]} does not exist.")
    here = resolved(here)
    places = requested_paths or [here]
    files = _Files(repository or Repository(here), entry_points)
    configured: list[CheckedKernel] = []
    strict_folders: list[Path] = []
    for file, settings in _configurations(places, here, files).items():
        configuration_kernels = [
            replace(kernel, strict=settings.get("strict", False)) for kernel in _configured(file, settings, files)
        ]
        if settings.get("strict"):
            strict_folders.append(file.parent)
        selected = [
            kernel
            for kernel in configuration_kernels
            if not requested_paths or any(kernel.path == path or path in kernel.path.parents for path in requested_paths)
        ]
        configured += selected if len(selected) == len(configuration_kernels) else map(_without_common, selected)
    configured_entries = {(kernel.path, entry) for kernel in configured for entry in files.described(kernel)}
    sources = list(dict.fromkeys(file for path in places for file in files.sources(path)))
    commented = [kernel for file in sources for kernel in _find_commented_kernels(file, files)]
    described = configured + [
        kernel for kernel in commented if configured_entries.isdisjoint((kernel.path, entry) for entry in files.described(kernel))
    ]
    described_paths = {kernel.path for kernel in described}
    undescribed_files = [
        file for file in dict.fromkeys(requested_paths) if file.is_file() and file not in described_paths and files.has_kernel(file)
    ]
    kernels = _numbered(described + [_refused(file, NOT_DESCRIBED) for file in undescribed_files])

    def is_strict(path: Path) -> bool:
        return strict or any(path.is_relative_to(folder) for folder in strict_folders)

    left_out = list(_undescribed({resolved(file) for file in sources}, kernels, files))
    kernels += [_refused(file, UNDESCRIBED_ENTRY, f"{file.name} {entry}") for file, entry in left_out if is_strict(file)]
    skipped = dict(folder for path in places for folder in files.skipped(path) if folder[0] not in places)
    reported = {kernel.path for kernel in kernels if kernel.error}
    unread = [item for item in files.unread.items() if item[0] not in reported]
    kernels += [_refused(path, why) for path, why in unread if is_strict(path) or path in requested_paths]
    kernels = [replace(kernel, strict=kernel.strict or is_strict(kernel.path)) for kernel in kernels]
    unread = [item for item in unread if not (is_strict(item[0]) or item[0] in requested_paths)]
    return kernels, Undescribed(tuple(item for item in left_out if not is_strict(item[0])), tuple(skipped.items()), tuple(unread))


class _Files:
    """The files and folders of a search. `unread` collects those that should be read but are not, with a sentence each."""

    def __init__(self, repository: Repository, entry_points: EntryPoints) -> None:
        self.repository, self._entry_points = repository, entry_points
        self.unread: dict[Path, str] = {}
        self._texts: dict[Path, str] = {}
        self._entries: dict[Path, list[str]] = {}

    def text(self, file: Path) -> str:
        """Return the text of a source; "" if it is not read."""
        if file not in self._texts:
            self._texts[file] = ""
            try:
                self._texts[file] = self.repository.text(file)
            except ValueError as error:
                self.unread[file] = str(error)
        return self._texts[file]

    def has_kernel(self, file: Path) -> bool:
        """Return whether a file holds a kernel."""
        return file.suffix in SUFFIXES and "numthreads" in (text := self.text(file)) and bool(re.search(r"\bnumthreads\b", text))

    def entries(self, file: Path) -> list[str]:
        """Return the entry points of a file; [] if it is not read."""
        if file not in self._entries:
            self._entries[file] = []
            try:
                self._entries[file] = self._entry_points(text) if "numthreads" in (text := self.text(file)) else []
            except ValueError as error:
                self.unread[file] = str(error)
        return self._entries[file]

    def described(self, kernel: CheckedKernel) -> list[str]:
        """Return the entry points that a kernel stands for: its own, or all of its file if it cannot be read."""
        if kernel.job.entry and not kernel.error:
            return [kernel.job.entry]
        entries = self.entries(kernel.path) if not self.repository.refuse(kernel.path) else []
        return entries if kernel.error else entries[:1]  # without a name it is the first

    def inside(self, folder: Path) -> list[Path]:
        """Return what is in a folder, in order; [] if it is not read."""
        try:
            return sorted(folder.iterdir())
        except OSError as error:
            self.unread[folder] = f"{folder} cannot be read: {error.strerror}."
            return []

    def sources(self, path: Path) -> Iterator[Path]:
        """Yield the sources at and below a path."""
        if path.is_file():
            yield path
            return
        for folder in self.folders(path):
            for file in self.inside(folder):
                if file.suffix not in SUFFIXES or file.is_dir():
                    continue
                if file.is_file():
                    yield file
                else:
                    self.unread[file] = f"{file} is not a file."

    def folders(self, path: Path, depth: int = 0, root: Path | None = None) -> Iterator[Path]:
        """Yield a folder and those below it that may hold sources. Links to folders are not followed."""
        root = root or path.resolve()
        if depth == _MOST_DEPTH:
            self.unread[path] = f"{path} is not searched: it is more than {_MOST_DEPTH} folders deep."
            return
        yield path
        for child in self.inside(path):
            if not child.is_dir() or _is_skipped(child):
                continue
            if not child.is_symlink():
                yield from self.folders(child, depth + 1, root)
            elif not child.resolve().is_relative_to(root):  # else it is searched by its own name
                self.unread[child] = f"{child} is not searched: it is a link to a folder elsewhere."

    def skipped(self, path: Path, depth: int = 0) -> Iterator[tuple[Path, int]]:
        """Yield the folders at and below a path that are not searched but hold kernels, each with its number of such files."""
        for subfolder in self._own_folders(path, depth):
            if not _is_skipped(subfolder):
                yield from self.skipped(subfolder, depth + 1)
            elif count := self._kernel_files(subfolder, depth + 1):
                yield subfolder, count

    def _kernel_files(self, folder: Path, depth: int) -> int:
        """Return the number of files at and below a folder that hold kernels, without other people's packages."""
        own = sum(_mentions_kernel(file) for file in self.inside(folder) if file.suffix in SUFFIXES)
        return own + sum(self._kernel_files(subfolder, depth + 1) for subfolder in self._own_folders(folder, depth))

    def _own_folders(self, path: Path, depth: int) -> Iterator[Path]:
        """Yield the folders in a folder that may hold a project's own kernels."""
        for child in self.inside(path) if path.is_dir() and depth < _MOST_DEPTH else ():
            is_own = child.name not in _NEVER_OURS and not (child / "pyvenv.cfg").exists()
            if child.is_dir() and not child.is_symlink() and is_own:
                yield child


def _mentions_kernel(file: Path) -> bool:
    """Return whether a file that is not searched seems to hold a kernel."""
    try:
        if file.is_symlink() or not file.is_file():
            return False
        with file.open("rb") as opened:
            return bool(re.search(rb"\bnumthreads\b", opened.read(MOST_TEXT)))
    except OSError:
        return False


def _undescribed(sources: Iterable[Path], kernels: Iterable[CheckedKernel], files: _Files) -> Iterator[tuple[Path, str]]:
    """Yield (file, entry point) for each kernel in some files that nothing describes. Files with an error are left out."""
    described = {(kernel.path, entry) for kernel in kernels for entry in files.described(kernel)}
    for file in sorted(sources):
        if files.has_kernel(file):
            yield from ((file, entry) for entry in files.entries(file) if (file, entry) not in described)


def _configurations(places: Iterable[Path], here: Path, files: _Files) -> dict[Path, dict[str, Any]]:
    """Return the configurations that apply to some files and folders, each with its settings. That of `here` comes first."""
    settings = cache(lambda folder: _settings(folder, files))  # files of one folder share the folders above
    configurations = [settings(here)]
    for path in places:
        folder = path if path.is_dir() else path.parent
        configurations.append(next(filter(None, map(settings, (folder, *folder.parents))), None))
        configurations += map(settings, files.folders(path) if path.is_dir() else ())
    return dict(filter(None, configurations))


def _settings(folder: Path, files: _Files) -> tuple[Path, dict[str, Any]] | None:
    for file, table in ((folder / CONFIGURATION, ()), (folder / "pyproject.toml", ("tool", "splatscope"))):
        if not file.is_file():
            continue
        try:
            text = files.repository.text(file)
            if _LONG_KEY.search(text):  # reading such a key takes time and memory that grow with the square of its parts
                raise ValueError(f"a key in it has more than {_MOST_PARTS} parts")
            settings: Any = tomllib.loads(text)
            for key in table:
                settings = settings.get(key, {})
            if settings and not isinstance(settings, dict):
                raise ValueError(f"{'.'.join(table)} is a table")
        except (ValueError, AttributeError) as error:
            raise ConfigurationError(f"{file} cannot be read: {str(error).splitlines()[0].rstrip('.')}.") from None
        except RecursionError:
            raise ConfigurationError(f"{file} cannot be read: its arrays or tables are nested too deeply.") from None
        if settings:
            return file, settings
    return None


def _configured(file: Path, settings: Mapping[str, Any], files: _Files) -> Iterator[CheckedKernel]:
    """Yield the kernels that a configuration names.

    Raises:
        ConfigurationError: It has an unknown key at the top, or a kernel names no file.
    """
    if unknown := [key for key in settings if key not in _TOP]:
        raise ConfigurationError(f"{file.name}: there is no “{unknown[0]}” at the top. There are {', '.join(_TOP)}.")
    tables = settings.get("kernel", [])
    if not isinstance(tables, list):
        raise ConfigurationError(f"{file.name}: kernel is a list: write [[kernel]], with two brackets.")
    if not isinstance(settings.get("strict", False), bool):
        raise ConfigurationError(f"{file.name}: strict is true or false.")
    shared = {key: value for key, value in settings.items() if key not in ("kernel", "strict")}
    for i, options in enumerate(tables):
        if not isinstance(options, dict) or not isinstance(options.get("file"), str):
            raise ConfigurationError(f"{file.name}: kernel {i + 1} needs a file.")
        kernel = _kernel_or_refused(file.parent / options["file"], shared | options, file.name, files)
        yield _allowing(kernel, file, f"kernel {i + 1}" if "allow" in options else "")


def _numbered(kernels: list[CheckedKernel]) -> list[CheckedKernel]:
    """Number the kernels of a file that have the same name, for example one kernel with several inputs."""
    names = Counter((kernel.path, kernel.name) for kernel in kernels)
    numbers: Counter[tuple[Path, str]] = Counter()
    numbered = []
    for kernel in kernels:
        key = kernel.path, kernel.name
        numbers[key] += 1
        numbered.append(replace(kernel, name=f"{kernel.name} ({numbers[key]})") if names[key] > 1 else kernel)
    return numbered


def _find_commented_kernels(file: Path, files: _Files) -> Iterator[CheckedKernel]:
    try:
        dispatch_options = [options for options, _ in dispatches(files.text(file))]
    except CommentError as error:
        yield _refused(file, f"{file.name}, {error}")
        return
    for i, options in enumerate(dispatch_options):
        name = str(options.get("name") or options.get("entry") or "")
        kernel = _kernel_or_refused(file, options | {"name": f"{file.name} {name}".strip()}, file.name, files)
        yield _allowing(kernel, file, f"dispatch {i + 1}")


def _allowing(kernel: CheckedKernel, file: Path, place: str) -> CheckedKernel:
    """Return a kernel with the place of each of its allowances filled in."""
    return replace(kernel, allow={kind: Allowance(file, place, kind) for kind in kernel.allow})


def _without_common(kernel: CheckedKernel) -> CheckedKernel:
    """Mark a kernel's shared allowances as covering kernels outside of this run, so that none of them counts as unused."""
    return replace(
        kernel, allow={kind: allowance if allowance and allowance.place else None for kind, allowance in kernel.allow.items()}
    )


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in ("build", *_NEVER_OURS)


def _kernel_or_refused(path: Path, options: Mapping[str, Any], where: str, files: _Files) -> CheckedKernel:
    """Return a kernel, or one with an `error` if its options are invalid, so that the other kernels are still checked."""
    try:
        return kernel_of(path, options, where, files.repository)
    except ConfigurationError as error:
        name = options.get("name") or f"{path.name} {options.get('entry', '')}".strip()
        return _refused(path, str(error), str(name))


def _refused(path: Path, error: str, name: str = "") -> CheckedKernel:
    path = resolved(Path(str(path).replace("\0", "")))
    return CheckedKernel(name or path.name, path, KernelJob("", path.name), error=error)


def kernel_of(path: Path, options: Mapping[str, Any], where: str, repository: Repository) -> CheckedKernel:
    """Return the kernel that a description gives.

    Args:
        path: Its file.
        options: The description.
        where: The name of the file with the description, for messages.
        repository: The files that may be read.

    Raises:
        ConfigurationError: An option is unknown or invalid, or a file cannot be read.
    """
    if unknown := [key for key in options if key not in _OPTIONS]:
        raise ConfigurationError(f"{where}: there is no option {unknown[0]}. There are {', '.join(_OPTIONS)}.")
    folder = path.parent
    try:
        groups = [int(n) for n in _list(options.get("groups", 1))]
        group = options.get("group", "all")
        inputs = Inputs(dict(options.get("vars", {})), folder, options.get("inputs", ""), where)
        if not isinstance(inputs.file, str):
            raise ValueError("inputs is the name of a file: values go under vars.")
        include = [folder / str(name) for name in _list(options.get("include", []))]
        for needed_path in (*include, *([folder / inputs.file] if inputs.file else [])):
            if why := repository.refuse(needed_path):
                raise ValueError(f"{needed_path} is not read: {why}.")
        if inputs.file and not (folder / inputs.file).is_file():
            raise ValueError(f"{folder / inputs.file} cannot be read: there is no such file.")
        source = repository.text(path)
        path = resolved(path)
        job = job_of(
            None,
            source=source,
            entry=str(options.get("entry", "")),
            groups=groups,
            group=(0, 0, 0) if group in ("all", ["all"]) else [int(n) for n in _list(group)],
            vars=None,
            defines=dict(options.get("defines", {})),
            include_paths=[repository.root_of(path), path.parent, *include],
            constants=dict(options.get("constants", {})),
            arguments=[str(name) for name in _list(options.get("arguments", []))],
            conformances=[str(pair) for pair in _list(options.get("conformances", []))],
            functions=[str(name) for name in _list(options.get("functions", []))],
            budget=int(options.get("budget", MOST_RECORDS)),
        )
        timeout, device = float(options.get("timeout", SECONDS)), str(options.get("device", ""))
        if not 0 < timeout <= _MOST_SECONDS:
            raise ValueError(f"timeout is a number of seconds above 0 and up to {_MOST_SECONDS:,}, not {timeout:g}.")
        if len(device.encode()) > _MOST_DEVICE:
            raise ValueError(f"device has more than {_MOST_DEVICE} characters.")
        allow = dict.fromkeys(map(str, _list(options.get("allow", []))))
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ConfigurationError(f"{where}: {error}") from None
    if "texture-races" in allow:
        raise ConfigurationError(f"{where}: races on textures are looked for: drop “texture-races” from allow.")
    if unknown_kinds := allow.keys() - CHECKS.keys():
        raise ConfigurationError(f"{where}: there is no kind of finding {', '.join(sorted(unknown_kinds))}.")
    name = str(options.get("name") or f"{path.name} {job.entry}".strip())
    job = replace(job, file=path.relative_to(job.include[0]).as_posix())
    return CheckedKernel(name, path, job, group in ("all", ["all"]), device, timeout, allow, inputs=inputs)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
