"""From an address to source: file and line, and the functions that the compiler inlined there.

Read by binutils' addr2line, which is installed with the compiler: one process for all addresses.
"""

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import cross_tool, tools


@dataclass(frozen=True, slots=True)
class Source:
    """Where an instruction comes from."""

    line: str
    """`file:line` of the innermost function; empty if the image does not say."""
    site: str
    """The line of the function that has the code: where those inlined there are called from."""
    inlined: tuple[str, ...]
    """Functions inlined there, outermost first; empty if the code is the function's own."""


_ADDRESS = re.compile("0x[0-9a-f]{1,16}")
NOWHERE = Source("", "", ())
_BY = re.compile(r"\b(?:by|for at|Fault at|fault at|faulted at) (0x[0-9a-f]{8})\b")
"""How a warning names the instruction that it is about: "used by 0x…", "first asked for at 0x…", "faulted at 0x…"."""


def sources(elf: Path, addresses: Iterable[int]) -> dict[int, Source]:
    """The source of each address. Without debug information, or addr2line, every line is empty."""
    wanted = sorted(set(addresses))
    program = shutil.which(cross_tool("addr2line"))
    if program is None or not wanted:
        return dict.fromkeys(wanted, NOWHERE)
    answer = tools.said([program, "-a", "-f", "-i", "-e", elf], "\n".join(f"{address:#x}" for address in wanted))
    found = dict.fromkeys(wanted, NOWHERE)
    for block in re.split(r"^(?=0x)", answer, flags=re.MULTILINE)[1:]:
        head, *rest = block.splitlines()
        chain = list(zip(rest[::2], rest[1::2], strict=False))
        if chain and not chain[0][1].startswith("??") and _ADDRESS.fullmatch(head):
            inlined = tuple(name for name, _ in reversed(chain[:-1]))
            found[int(head, 16)] = Source(_short(chain[0][1]), _short(chain[-1][1]), inlined)
    return found


def with_places(warnings: Iterable[str], image: Path) -> list[str]:
    """Adds file and line to each address of code in warnings of the virtual board, where the image says them."""
    texts = list(warnings)
    places = sources(image, (int(found, 16) for text in texts for found in _BY.findall(text)))

    def place(match: re.Match[str]) -> str:
        line = places[int(match[1], 16)].line
        return f"{match[0]}, {line}," if line else match[0]

    return [_BY.sub(place, text).replace(",)", ")") for text in texts]


def _short(line: str) -> str:
    """Without the places where this machine keeps build folders and packages, and without addr2line's remarks."""
    line = line.partition(" (discriminator")[0]
    for pattern in (r".*/registry/src/[^/]+/", r".*?(?=firmware/)", r".*/(?=[^/]+/lib/)", r"^/.*/(?=[^/]+/[^/]+$)"):
        shorter = re.sub(pattern, "", line, count=1)
        if shorter != line:
            return shorter
    return line
