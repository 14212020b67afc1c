"""Finds what a configuration changes inside a kernel's functions without a compiler option.

A kernel has hook macros, such as `traceTASK_SWITCHED_IN`, which are empty in the released sources. A header may also
select another optimisation level (`#pragma GCC optimize`). Both change the kernel's functions, but no compiler flag
shows it, and the added instructions would count as the kernel's own. A build with either gives no figure for the kernel
as released."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from rtoslab.base import BuildError
from rtoslab.intake import SOURCE_BYTES, read_bytes

_HOOK_CALL: Final = re.compile(r"port_hook_\w+\s*\(\s*\)")
"""A call by which a port tells a benchmark that needs hooks where the kernel is."""
_HOOKS_ARE_NEEDED: Final = re.compile(r"^#define BENCH_NEEDS_HOOKS 1$", re.MULTILINE)
_ASSERTS_ARE_ON: Final = re.compile(r"^#define (?!\w+_DEFINED )\w*ASSERT\w* \(?[1-9]", re.MULTILINE)
"""A setting of the configuration that switches assertions on. The kernel's own `configASSERT_DEFINED` is none."""
_MACRO: Final = re.compile(r"^#define (\w+)(?:\([^)]*\))?(?: (.*))?$", re.MULTILINE)
_DEFINED: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_HAS_DEFAULT: Final = re.compile(
    r"^[ \t]*#[ \t]*(?:ifndef[ \t]+(\w+)|if[ \t]+!\s*defined\s*\(?\s*(\w+)\s*\)?)[^\n]*\n"
    r"(?:[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)?\n)*"
    r"[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)\n]*\))?[ \t]*(?:\\\n[ \t]*)*([^\n]*)$",
    re.MULTILINE,
)
"""A macro that a configuration may define before the kernel does: `#ifndef NAME`, then `#define NAME(x) text`."""
_COMMENT: Final = re.compile(r"/\*.*?\*/|//.*")
_NO_EFFECT: Final = re.compile(r"\(\s*void\s*\)\s*\(?\s*\w+|\bdo\s*\{\s*\}\s*while\s*\(\s*0\s*\)|[\s();{}]")
"""The parts of a macro's text that generate no code."""
_LEVEL: Final = re.compile(
    rb"^[ \t]*#[ \t]*pragma[ \t]+(?:GCC|clang)[ \t]+optimize\b|\b_Pragma[ \t]*\([ \t]*\"(?:GCC|clang)[ \t]+optimize\b"
    rb"|\b(?:__)?optimize(?:__)?[ \t]*\([ \t]*(?:\"|\d)|\b(?:__)?optnone\b",
    re.MULTILINE,
)
"""A text by which a source file asks for a level of optimisation of its own (GCC manual, Function Specific Option
Pragmas and Common Function Attributes)."""


def read_source_contents(files: Iterable[str]) -> dict[str, bytes]:
    """Returns the content of each source file, by its path. Empty content for a file that cannot be read."""
    return {file: _read_source_file(Path(file)) for file in sorted(files)}


def files_with_own_optimisation_level(sources: Mapping[str, bytes]) -> list[str]:
    """Returns the files that ask the compiler for an optimisation level of their own, by a pragma or attribute.
    `sources`: from `read_source_contents`."""
    return [file for file, content in sources.items() if b"opt" in content and _LEVEL.search(content)]


def hook_macro_code(macros: str, port: Mapping[str, bytes], kernel_files: Iterable[str]) -> Mapping[str, str]:
    """Returns the text of each hook macro that the port fills with code, by name. Such a macro has an empty text in the
    kernel itself.

    `macros` is the preprocessor's list of all macros (`-dM`), `port` has the sources of `read_source_contents`. Code
    that a setting of the build states is left out: assertions that are switched on, and the calls of a benchmark that
    needs hooks.
    """
    by_port = {name.decode() for content in port.values() for name in _DEFINED.findall(content)}
    candidates = {
        name: text.strip()
        for name, text in _MACRO.findall(macros)
        if name in by_port
        and not _is_macro_without_effect(text)
        and not _does_build_set_macro(name, text.strip(), macros)
    }
    if not candidates:
        return {}
    hooks = {name for file in kernel_files for name in _macros_empty_by_default(Path(file))}
    return {name: text for name, text in sorted(candidates.items()) if name in hooks}


def _macros_empty_by_default(file: Path) -> Iterator[str]:
    """Yields the names of macros to which a file of the kernel gives an empty text unless they are defined before."""
    source = _read_source_file(file).decode("utf-8", errors="replace").replace("\r\n", "\n")
    for first, second, name, text in _HAS_DEFAULT.findall(source):
        if name in {first, second} and _is_macro_without_effect(text):
            yield name


def _does_build_set_macro(name: str, text: str, macros: str) -> bool:
    """Whether a setting of the build itself says that a macro has this code."""
    if _HOOK_CALL.fullmatch(text):
        return _HOOKS_ARE_NEEDED.search(macros) is not None
    return "ASSERT" in name.upper() and _ASSERTS_ARE_ON.search(macros) is not None


def _is_macro_without_effect(text: str) -> bool:
    """Whether a macro's text is empty, or a statement without effect: `do {} while (0)`, `(void)x`."""
    return not _NO_EFFECT.sub("", _COMMENT.sub("", text))


def _read_source_file(file: Path) -> bytes:
    """Returns a file's content. Empty if it cannot be read: a file of the compiler's own may be gone."""
    try:
        return read_bytes(file, SOURCE_BYTES, "the source file", BuildError)
    except BuildError:
        return b""
