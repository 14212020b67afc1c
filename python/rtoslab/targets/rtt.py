"""SEGGER RTT: what firmware writes into buffers of its RAM, which a debug probe reads without stopping the core.

The control block is at `_SEGGER_RTT`: 16 bytes of identification, the number of buffers up and down, then six words
for each: name, address, size, write offset, read offset, flags (SEGGER, UM08001, "Real Time Transfer").
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rtoslab.targets.board import simulator_module
from rtoslab.targets.machine import VirtualBoardMachine

SYMBOL: Final = "_SEGGER_RTT"
_ID: Final = b"SEGGER RTT"
_HEAD_BYTES: Final = 24
_BUFFER_BYTES: Final = 24
_WRITE_AT: Final = 12
_READ_AT: Final = 16
_BUFFERS_MOST: Final = 16
_NAME_MOST: Final = 32
_BYTES_MOST: Final = 1 << 20
"""The most bytes of a buffer. If the words say more, they are not yet written, or they are not a control block."""


@dataclass(slots=True)
class RttBuffers:
    """The SEGGER RTT buffers in the RAM of a running image, as a debug probe reads them."""

    machine: VirtualBoardMachine
    block: int
    """Address of the control block."""
    typed: bytes = b""
    """Input that does not yet fit into the first buffer down."""
    names: dict[int, str] = field(default_factory=dict)
    """The names of the buffers up that have been read, by number."""

    def receive_output(self) -> Iterator[tuple[int, bytes]]:
        """Yields the number and the new bytes of each RTT buffer from the target, and writes waiting input to the
        target."""
        head = self._read_memory(self.block, _HEAD_BYTES)
        if not head.startswith(_ID):
            return  # before SEGGER_RTT_Init
        ups, downs = (min(_word_at(head, at), _BUFFERS_MOST) for at in (16, 20))
        for number in range(ups):
            fresh = self._read_target_to_host_buffer(number)
            if fresh:
                yield number, fresh
        if downs and self.typed:
            self._fill_host_to_target_buffer(self.block + _HEAD_BYTES + ups * _BUFFER_BYTES)

    def _read_target_to_host_buffer(self, number: int) -> bytes:
        """Returns the unread bytes of an RTT buffer from the target, by the buffer's number, and marks them as read."""
        at = self.block + _HEAD_BYTES + number * _BUFFER_BYTES
        words = self._read_memory(at, _BUFFER_BYTES)
        name, buffer, size, write, read = (_word_at(words, place) for place in range(0, 20, 4))
        if not 0 < size <= _BYTES_MOST or write >= size or read >= size or write == read:
            return b""
        whole = self._read_memory(buffer, size)
        self.names.setdefault(number, self._read_rtt_buffer_name(name))
        self.machine.write(at + _READ_AT, write.to_bytes(4, "little"))
        return whole[read:write] if read < write else whole[read:] + whole[:write]

    def _fill_host_to_target_buffer(self, at: int) -> None:
        """Writes as much waiting input as fits into the RTT buffer to the target, whose descriptor is at address
        `at`."""
        words = self._read_memory(at, _BUFFER_BYTES)
        _, buffer, size, write, read = (_word_at(words, place) for place in range(0, 20, 4))
        if not 0 < size <= _BYTES_MOST or write >= size or read >= size:
            return
        room = (read - write - 1) % size
        fits, self.typed = self.typed[:room], self.typed[room:]
        for byte in fits:
            self.machine.write(buffer + write, bytes([byte]))
            write = (write + 1) % size
        self.machine.write(at + _WRITE_AT, write.to_bytes(4, "little"))

    def _read_rtt_buffer_name(self, address: int) -> str:
        """Returns the name of an RTT buffer, which the target's memory has as a C string at this address. Empty for
        address 0."""
        text = self._read_memory(address, _NAME_MOST).partition(b"\0")[0] if address else b""
        return text.decode("ascii", errors="replace")

    def _read_memory(self, address: int, length: int) -> bytes:
        """Returns bytes of the target's memory. Empty outside memory."""
        try:
            return bytes(self.machine.read(address, length))
        except (simulator_module().SimError, OverflowError):
            return b""


def find_rtt_buffers(machine: VirtualBoardMachine, typed: bytes = b"") -> RttBuffers | None:
    """Returns the SEGGER RTT buffers of the loaded image. None if it has none. `typed` is input for its first buffer to
    the target."""
    block = machine.symbol(SYMBOL)
    return None if block is None else RttBuffers(machine, block & ~1, typed)


def _word_at(content: bytes, at: int) -> int:
    """Returns the little-endian 32-bit word at an offset."""
    return int.from_bytes(content[at : at + 4], "little")
