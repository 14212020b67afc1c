"""defmt: log frames that firmware sends over RTT as numbers, and their text from the image."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rtoslab.base import ImageFileError
from rtoslab.targets.board import simulator_module

if TYPE_CHECKING:
    from rtoslab._sim import LogDecoder

CHANNEL: Final = "defmt"
"""The name of defmt's RTT buffer, and of its lines."""
_ELF: Final = b"\x7fELF"
_SECTION: Final = b".defmt"


@dataclass(frozen=True, slots=True)
class DefmtLogLine:
    """One line of a defmt log."""

    level: str | None
    """`error`, `warn`, `info`, `debug` or `trace`. None for `println!`."""
    timestamp: str | None
    """As the firmware formats it."""
    message: str
    file: str | None
    line: int | None
    module: str | None

    def __str__(self) -> str:
        """Returns the log line as people read it: time, level, message, place in the source."""
        parts = (self.timestamp, (self.level or "").upper().ljust(5) if self.level else None, self.message)
        place = f" ({self.file}:{self.line})" if self.file else ""
        return " ".join(part for part in parts if part is not None) + place

    def as_json(self) -> dict[str, Any]:
        """Returns the log line as the JSON object of `rtoslab sim --json`."""
        return {name: getattr(self, name) for name in self.__slots__}


class DefmtLog:
    """The defmt log of one image (a compact log over RTT), decoded as its bytes arrive."""

    def __init__(self, decoder: "LogDecoder") -> None:
        """`find_defmt_log` makes one."""
        self._decoder = decoder
        self.lines: list[DefmtLogLine] = []
        """All lines so far."""

    def decode_log_bytes(self, data: bytes) -> bytes:
        """Decodes the next bytes of the log. Returns the text of the lines that they complete."""
        fresh = [
            DefmtLogLine(level, timestamp, message, place[0] if place else None, place[1] if place else None, module)
            for level, timestamp, message, place, module in self._decoder.feed(data)
        ]
        self.lines += fresh
        return "".join(f"{line}\n" for line in fresh).encode()


def find_defmt_log(image: bytes) -> DefmtLog | None:
    """Returns the decoder of an image's defmt log. None if the image does not use defmt. Raises ImageFileError if its
    tables are damaged."""
    if not image.startswith(_ELF) or _SECTION not in image:
        return None
    sim = simulator_module()
    try:
        decoder = sim.LogDecoder.of(image)
    except sim.ImageError as cause:
        raise ImageFileError(
            f"The image's defmt log cannot be decoded: {cause}; build it with the linker script defmt.x."
        ) from None
    return None if decoder is None else DefmtLog(decoder)
