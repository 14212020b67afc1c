"""Finds whose code an object file contains, by the folder that the build put it in."""

import re
from typing import Final

_OWN: Final = (
    ("kernels/", "port"),
    ("boards/", "board"),
    ("chips/", "board"),
    ("cpus/", "cpu"),
)
_KERNEL: Final = re.compile(r"(^|/)kernel/|/?lib\w+_kernel(_port)?\.a\(|(^|/)CMakeFiles/\w+_kernel(_port)?\.dir/")
_MEMBER: Final = re.compile(r"(?P<archive>[^/()]+\.a)\((?P<member>[^()]+)\)$")
_IMAGE: Final = "CMakeFiles/image.dir/"


_C_LIBRARY: Final = re.compile(
    r"lib(c|m|g|gcc|nosys|stdc\+\+|supc\+\+|cxx|c\+\+|(clang_rt|compiler_rt)[\w.-]*)(_nano)?\.a"
)
"""Archives that are no kernel's, even if its export brings them along."""


def firmware_component_of_object_file(name: str, export: str | None = None) -> str:
    """Returns the origin of an object file: kernel, port, board, cpu, program, library or linker.

    `export`: the folder of the kernel's export. Code there is the kernel, except for C libraries.
    """
    if export is not None and name.startswith(f"{export}/"):
        member = _MEMBER.search(name)
        return "library" if member and _C_LIBRARY.fullmatch(member["archive"]) else "kernel"
    own = name.partition(_IMAGE)[2]
    if own:
        return next((origin for folder, origin in _OWN if own.startswith(folder)), "program")
    if _KERNEL.search(name):
        return "kernel"
    return "library" if _MEMBER.search(name) else "linker" if " " in name else "program"


def short_object_file_name(name: str, export: str | None = None) -> str:
    """Returns an object file's name without the folders of this machine and without `.o`."""
    own = name.partition(_IMAGE)[2]
    member = _MEMBER.search(name)
    if member and firmware_component_of_object_file(name, export) == "kernel":
        short = member["member"]
    elif member:
        short = f"{member['archive']}({member['member']})"
    else:
        short = own or name.rpartition("/")[2]
    return re.sub(r"\.(obj|o)\b", "", short)
