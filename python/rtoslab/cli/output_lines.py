"""The output of firmware on a terminal, each channel marked."""

from typing import BinaryIO


class FirmwareOutputWriter:
    """Writes the firmware's output to the terminal as it comes.
    UART goes out as it is, each line of another channel with its name.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._rests: dict[str, bytes] = {}

    def write_output(self, channel: str, data: bytes) -> None:
        """Writes new output of a channel to the terminal. An incomplete last line of a channel other than UART waits
        for its end."""
        if channel != "uart":
            *lines, self._rests[channel] = (self._rests.get(channel, b"") + data).split(b"\n")
            data = b"".join(channel.encode() + b": " + line + b"\n" for line in lines)
        self._stream.write(data)
        self._stream.flush()
