"""What is connected, the map of a bench, and the images that some programs want."""

from pathlib import Path

import pytest

from rtoslab.base.errors import CatalogueError, ImageFileError, SerialPortError, UnknownNameError
from rtoslab.hardware.bench import HardwareMap, read_hardware_map
from rtoslab.hardware.choosing import ConnectedBoard, find_connected_board
from rtoslab.hardware.flash_tools import TOOLS, FlashJob
from rtoslab.hardware.image_forms import flash_content_as_uf2, flash_content_of_elf
from rtoslab.hardware.usb import UsbDevice, connected_devices, kind_of_debug_probe
from tests.differential.engines import elf
from tests.hardware.desk import CATALOGUE, plug_in

NUCLEO = CATALOGUE.find_board("nucleo-f446re").facts
NAMES = CATALOGUE.chip_names_in_flash_programs("nucleo-f446re")
STLINK = UsbDevice(0x0483, 0x374B, "066CFF57", "STM32 STLink", ("/dev/ttyACM0",), 1, 7)


@pytest.fixture(autouse=True)
def every_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtoslab.hardware.choosing.is_flash_tool_installed", lambda _: True)


def chosen(
    request: str, *devices: UsbDevice, port: str | None = None, bench: HardwareMap | None = None
) -> ConnectedBoard:
    return find_connected_board(request, NUCLEO, NAMES, devices, port, bench)


@pytest.mark.parametrize("board", sorted(CATALOGUE.boards))
def test_every_board_can_be_flashed(board: str) -> None:
    names = CATALOGUE.chip_names_in_flash_programs(board)
    assert names.probe_rs
    assert names.pyocd
    assert names.openocd


def test_usb_devices_are_read_from_sysfs(tmp_path: Path) -> None:
    plug_in(tmp_path, "0483:374b", "066CFF57", port="ttyACM3")
    plug_in(tmp_path, "2e8a:0003", "E0C9125B0D9B", "1-5")
    plug_in(tmp_path, "046d:c31c", "KEYBOARD", "1-6")
    plug_in(tmp_path, "0d28:0204", "bad; serial", "1-7")
    result = connected_devices(tmp_path)
    assert [(kind_of_debug_probe(device), device.serial, device.ports) for device in result] == [
        ("stlink", "066CFF57", ("/dev/ttyACM3",)),
        ("cmsis-dap", "", ()),
        ("bootsel", "E0C9125B0D9B", ()),
    ]


def test_only_or_named_probe_is_chosen() -> None:
    other = UsbDevice(0x0483, 0x374B, "0671FF38", "", ("/dev/ttyACM1",))
    assert chosen("auto", STLINK).port == "/dev/ttyACM0"
    assert chosen("0671FF38", STLINK, other).probe == other
    with pytest.raises(SerialPortError, match="2 probes are connected"):
        chosen("auto", STLINK, other)


def bench(**changes: object) -> HardwareMap:
    entry = {"name": "left", "board": NUCLEO.id, "probe": STLINK.serial, **changes}
    return HardwareMap.model_validate({"target": [entry]})


def test_hardware_map_decides() -> None:
    target = chosen("left", STLINK, bench=bench(port="/dev/x", tool="st-flash", flash_limit_s=5.0))
    assert (target.port, target.tool.name, target.flash_limit_s) == ("/dev/x", "st-flash", 5)
    assert chosen("auto", STLINK, bench=bench()).probe == STLINK
    with pytest.raises(SerialPortError, match="is a pico, but --board is"):
        chosen("left", STLINK, bench=bench(board="pico"))
    with pytest.raises(SerialPortError, match="is not connected"):
        chosen("left", bench=bench())
    with pytest.raises(UnknownNameError, match="did you mean 'left'"):
        chosen("lift", STLINK, bench=bench())
    with pytest.raises(SerialPortError, match="picotool is not installed or does not support this probe"):
        chosen("left", STLINK, bench=bench(tool="picotool"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[[target]]\nname = "a"\nboard = "pico"\nprobe = "x"\nprot = "y"', "target.0.prot: Extra inputs"),
        ('[[target]]\nname = "a"\nboard = "pico"\nprobe = "x; reboot"', "letters, digits and"),
        ('[[target]]\nname = "auto"\nboard = "pico"\nprobe = "x"', "must not be `auto`"),
        ('[[target]]\nname = "a"\nboard = "p"\nprobe = "x"\nport = "-x"', "must not begin with"),
        ('[[target]]\nname = "a"\nboard = "p"\nprobe = "x"\n[[target]]\nname = "b"\nboard = "p"\nprobe = "x"',
         "two targets have the probe x"),
        ("", "target: Field required"),
    ],
)  # fmt: skip
def test_hardware_map_is_parsed_strictly(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "map.toml").write_text(text)
    with pytest.raises(CatalogueError, match=sentence):
        read_hardware_map(tmp_path / "map.toml")


@pytest.mark.parametrize("path", ["a{b", "a}b", "a$b", "a[b", "a;b", 'a"b', "a\\b"])
def test_paths_cannot_inject_tcl_into_openocd(path: str) -> None:
    with pytest.raises(SerialPortError, match="characters with a meaning in Tcl"):
        TOOLS["openocd"].make_commands(FlashJob(Path(path), NUCLEO, NAMES, STLINK))


def test_binary_and_uf2_images() -> None:
    image = elf([(0x1000_0000, b"abc"), (0x1000_0104, b"def")], 0x1000_0000)
    content = flash_content_of_elf(image, 0x1000_0000, 4096)
    assert content == b"abc" + b"\xff" * 0x101 + b"def"
    blocks = flash_content_as_uf2(content, 0x1000_0000, 0xE48BFF56)
    assert len(blocks) == 2 * 512
    assert blocks[:4] == b"UF2\n"
    assert blocks[512 + 12 : 512 + 16] == bytes([0x00, 0x01, 0x00, 0x10])
    with pytest.raises(ImageFileError, match="is not within the 4,096 bytes"):
        flash_content_of_elf(elf([(0x2000_0000, b"abc")], 0x2000_0000), 0x1000_0000, 4096)
