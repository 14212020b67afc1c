"""A desk without hardware: a virtual board whose serial port is a pseudo-terminal, started by whatever flashes it."""

import json
import os
import pty
import re
import socket
import threading
import tty
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.targets.board import (
    apply_timing_settings_to_virtual_board,
    load_image_into_board,
    make_board_at_reset,
    pin_number_in_events,
)
from rtoslab.targets.event_kinds import KIND_PIN
from rtoslab.targets.events import EVENT
from tests.differential.engines import elf
from tests.hardware.stand_ins import SOCKET, install

CATALOGUE = Catalogue(find_checkout_root())
CHUNK_CYCLES = 400_000
MOST_CHUNKS = 20_000
BEFORE_RESET_CYCLES = 100_001
Spoil = Callable[[int, bytes], bytes]
"""(how often the board was started before, what it sends now) -> what arrives"""


class Desk:
    """`port` is what rtoslab opens; `environment` is what it is started with."""

    def __init__(
        self,
        folder: Path,
        board: str,
        tools: tuple[str, ...] = ("openocd",),
        *,
        serial: str = "066CFF57",
        usb: str = "0483:374b",
        settings: Mapping[str, int] | None = None,
        spoil: Spoil = lambda _, data: data,
        pull_after: int | None = None,
        reset_after: int | None = None,
        stuck: bool = False,
        analyzer: str = "",
    ) -> None:
        self.board = CATALOGUE.find_board(board).facts
        self.serial = serial
        self.orders: list[dict[str, Any]] = []
        self._settings = dict(settings or {})
        self._spoil = spoil
        self._pull_after, self._reset_after, self._stuck = pull_after, reset_after, stuck
        self._analyzer = analyzer
        """What becomes of a logic analyzer's recording: `fine`, or how it fails (`stand_ins.sigrok_cli`)."""
        self._edges: list[tuple[int, int]] = []
        self._clock_hz, self._over = 1, False
        self._image: bytes | None = None
        self._starts = 0
        self._stop = threading.Event()
        self._residual = threading.Event()
        self._runs: threading.Thread | None = None
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        os.set_blocking(self._master, False)
        install(folder / "bin", *tools)
        plug_in(folder / "sys", usb, serial)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(folder / "desk"))
        self._socket.listen()
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "SYSFS_PATH": str(folder / "sys"),
            SOCKET: str(folder / "desk"),
        }
        self._serves = threading.Thread(target=self._serve, daemon=True)
        self._serves.start()

    def __enter__(self) -> "Desk":
        return self

    def __exit__(self, *_: object) -> None:
        self._residual.set()
        self._socket.shutdown(socket.SHUT_RDWR)  # closing alone leaves who waits for a caller waiting
        self._serves.join()
        self._halt()
        self._socket.close()
        for item in (self._master, self._slave):
            with suppress(OSError):
                os.close(item)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self._socket.accept()
                with line:
                    order = json.loads(line.makefile().readline())
                    if order["do"] != "edges":
                        self.orders.append(order)
                    line.sendall(json.dumps(self._answer(order)).encode() + b"\n")

    def _answer(self, order: Mapping[str, Any]) -> dict[str, Any]:
        if order["do"] == "analyzer":
            return {"analyzer": self._analyzer}
        if order["do"] == "edges":
            return {"edges": self._edges[order["after"] :], "clock_hz": self._clock_hz, "over": self._over}
        if order["serial"] not in {self.serial, "1:7"}:
            return {"error": f"no probe {order['serial']}"}
        if self._stuck:
            self._residual.wait(60)
        if order["do"] == "reset":
            if self._image is not None:
                self._start()
            return {}
        self._halt()
        self._image = loadable(order["form"], Path(order["image"]).read_bytes())
        if order["start"]:
            self._start()
        return {}

    def _halt(self) -> None:
        self._stop.set()
        if self._runs is not None:
            self._runs.join()
        self._stop.clear()

    def _start(self) -> None:
        self._halt()
        self._runs = threading.Thread(target=self._run, daemon=True)
        self._runs.start()

    def _run(self) -> None:
        assert self._image is not None
        starts, self._starts = self._starts, self._starts + 1
        machine, sent, resets, whole = self._at_reset(), 0, 1, bytearray()
        self._over, since = False, BEFORE_RESET_CYCLES + (self._edges[-1][0] if self._edges else 0)
        for _ in range(MOST_CHUNKS):
            machine.run(CHUNK_CYCLES)
            self._note_edges(machine, since)
            output = machine.take_uart()
            data = self._spoil(starts, output)
            sent += len(data)
            if self._pull_after is not None and sent > self._pull_after:
                os.close(self._master)
                return
            whole += output
            if re.search(rb"@\d+ end .*\n$", whole):
                self._over = True
                self._send(data)
                return
            if not self._send(data):
                return
            if self._reset_after is not None and sent > self._reset_after * resets:
                machine, resets = self._at_reset(), resets + 1

    def _at_reset(self) -> Any:
        assert self._image is not None
        machine = make_board_at_reset(self.board, cores=self.board.cores)
        apply_timing_settings_to_virtual_board(machine, self._settings)
        load_image_into_board(machine, self._image, "flashed.elf")
        machine.trace_pins(bool(self._analyzer))
        return machine

    def _note_edges(self, machine: Any, since: int) -> None:
        """The measurement pin's, in the analyzer's time: it saw the board before this reset, too."""
        if self._analyzer:
            result = np.frombuffer(bytes(machine.take_events()), EVENT)
            mine = result[(result["kind"] == KIND_PIN) & (result["id"] == pin_number_in_events(self.board.pins.out))]
            self._edges += [(since + int(item["cycle"]), int(item["value"])) for item in mine]
            self._clock_hz = machine.clock_hz()

    def _send(self, data: bytes) -> bool:
        while data and not self._stop.is_set():
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                self._stop.wait(0.002)
            except OSError:
                return False
        return not self._stop.is_set()


def loadable(form: str, data: bytes) -> bytes:
    """What a virtual board takes: flat content becomes an ELF that is loaded where it was said to lie."""
    if not form.startswith("bin@"):
        return data
    start = int(form[4:], 16)
    return elf([(start, data)], int.from_bytes(data[4:8], "little"))


def plug_in(sysfs: Path, usb: str, serial: str, place: str = "1-4", port: str | None = None) -> None:
    """A device as the kernel shows it; `port`: the name of its serial port."""
    device = sysfs / "bus" / "usb" / "devices" / place
    interface = device / f"{place}:1.2"
    interface.mkdir(parents=True)
    if port is not None:
        (interface / "tty" / port).mkdir(parents=True)
    vendor, product = usb.split(":")
    facts = {
        "idVendor": vendor,
        "idProduct": product,
        "serial": serial,
        "product": "A probe",
        "busnum": "1",
        "devnum": "7",
    }
    for name, value in facts.items():
        (device / name).write_text(value + "\n")
