"""What a build records of its kernel's configuration: the script that writes it, given the macros of a preprocessor."""

import json
import subprocess
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root

SCRIPT = "firmware/cmake/WriteBuildInfo.cmake"
LISTS = (
    "target_sources kernel_targets CPU_FOLDERS BOARD_FOLDERS recorded_flags STRICT_FLAGS BENCH_PARAMS_FINAL CLOCK_FACTS"
)


def recorded_configuration(folder: Path, macros: str) -> dict[str, str]:
    """The configuration that is recorded of these `#define` lines."""
    (folder / "macros.txt").write_text(macros)
    empty = folder / "empty"
    empty.mkdir()
    facts = {
        "macros": folder / "macros.txt", "KERNEL_CONFIG_PATTERN": "cfg[A-Z_]+", "FIRMWARE_DIR": empty,
        "BENCH_DIR": empty, "KERNEL": "k", "KERNEL_ID": "k", "KERNEL_DIR": empty,
        "KERNEL_SOURCE_DIR": empty, "CORES": 1, "PLACEMENT": 0, "CLOCK_HZ": 1,
        "WINDOW_MS": 1, "WARMUP_MS": 1, "banner": "gcc",
    }  # fmt: skip
    lines = [f"set({name} [==[{value}]==])" for name, value in facts.items()] + [
        f"set({name} )" for name in LISTS.split()
    ]
    (folder / "input.cmake").write_text("\n".join(lines) + "\n")
    out = folder / "build-info.json"
    script = find_checkout_root() / SCRIPT
    command = ["cmake", f"-DINPUT={folder / 'input.cmake'}", f"-DOUTPUT={out}", "-P", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())["kernel_config"]
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize(
    ("value", "also", "wanted"),
    [
        ("5", "", "5"),
        ("OTHER", "#define OTHER 7\n", "7"),
        ("(OTHER)", "#define OTHER 7\n", "7"),
        ("( ( OTHER ) )", "#define OTHER ( MORE )\n#define MORE 8\n", "8"),
        ("(OTHER)", "", "(OTHER)"),  # nobody says what it is
        ("( ( TickType_t ) 1000 )", "", "( ( TickType_t ) 1000 )"),
        ("(A) + (B)", "#define A 1\n#define B 2\n", "(A) + (B)"),
        ("nesting++", "", "nesting++"),
        ("do { count++; } while (0)", "", "do { count++; } while (0)"),
    ],
)
def test_macro_is_resolved_to_its_value(tmp_path: Path, value: str, also: str, wanted: str) -> None:
    assert recorded_configuration(tmp_path, f"#define cfgTHIS {value}\n{also}") == {"cfgTHIS": wanted}
