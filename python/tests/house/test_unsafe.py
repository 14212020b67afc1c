"""The Rust sources: what unsafe code may look like, so that its promises can be checked by a reader."""

import re
from collections.abc import Iterator

from rtoslab.base.paths import find_checkout_root

SIM = find_checkout_root() / "sim"
SOURCES = sorted(path for path in SIM.rglob("*.rs") if "target" not in path.parts)
BLOCK_LINES = 45
"""More under one sentence is promised by nobody."""
KEPT_POINTERS = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?\w+: \*(?:mut|const) (?:Core|u64|u8|System)\b")
"""Fields that point at a core, at the bus, or into what it owns inline: a reference to that and a write through the
pointer contradict each other, and the compiler may use either."""
FOR_ALL = re.compile(r"unsafe impl<\w+> (?:Send|Sync) for \w+<\w+>")


def blocks(text: str) -> Iterator[tuple[int, int]]:
    """First line and length of each unsafe block that spans lines, as rustfmt lays them out."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if re.search(r"(?<!//)\bunsafe \{$", line) and not line.lstrip().startswith("//"):
            indent = len(line) - len(line.lstrip())
            behind = (n for n in range(at + 1, len(lines)) if lines[n].strip() and _indent(lines[n]) <= indent)
            yield at + 1, next(behind) - at + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def forbidden_promises(text: str) -> Iterator[str]:
    """What a source promises that no reader can check."""
    yield from (f"{line}: {length} lines of unsafe code" for line, length in blocks(text) if length > BLOCK_LINES)
    yield from (line.strip() for line in text.split("\n") if KEPT_POINTERS.search(line))
    if FOR_ALL.search(text):
        yield "Send or Sync, whatever the type holds"


def test_unsafe_code_is_small_and_stores_no_foreign_pointer() -> None:
    assert not [f"{path.relative_to(SIM)}: {item}" for path in SOURCES for item in forbidden_promises(path.read_text())]


def test_forbidden_unsafe_code_is_found() -> None:
    long = "fn f() {\n    unsafe {\n" + 50 * "        g();\n" + "    }\n}\n"
    assert list(blocks(long)) == [(2, 52)]
    assert list(blocks("    let x = unsafe { g() };\n")) == []
    for wrong in (
        long,
        "    pub peer: *mut Core,",
        "pub struct S {\n    row: *mut u64,\n}\n",
        "unsafe impl<C> Send for Parked<C> {}",
    ):
        assert len([*forbidden_promises(wrong)]) == 1
    for right in ("    pub ip: *mut Op,", "unsafe impl Send for Parked<v6m::core::Core> {}"):
        assert not [*forbidden_promises(right)]
