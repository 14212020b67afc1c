"""Zephyr: what its own build is given, and the script that gathers an export behind that build, tried without it."""

import re
import subprocess
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.user_kernels import KernelExportRequirements
from tests.trees.test_exports import command_output

CONFIG = find_checkout_root() / "firmware" / "kernels" / "zephyr" / "config"
TABLES = """typedef void (* ISR)(const void *);
	{(const void *)0x0, (ISR)((uintptr_t)&z_irq_spurious)},
"""
DRIVERS = ("\t{(const void *)0x20000010, (ISR)0x8001235},\n", "\t{(void *)0x0, (void *)0x8001235},\n")
"""As later versions and 1.14 write one."""


def wants() -> KernelExportRequirements:
    export = Catalogue(find_checkout_root()).find_kernel("zephyr").facts.export
    assert export is not None
    return export


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def make_build(folder: Path, tables: str = TABLES) -> Path:
    """What Zephyr's build leaves, as far as the script looks, and a stand-in for Ninja. Gives the build's folder."""
    build, tree = folder / "build", folder / "tree"
    write(build / "zephyr" / ".config", "CONFIG_A=y\n")
    write(build / "zephyr" / "linker.cmd", "SECTIONS { }\n")
    write(build / "zephyr" / "isr_tables.c", tables)
    headers = [
        write(tree / "include" / "zephyr" / "kernel.h", "first"),
        write(build / "zephyr" / "generated" / "autoconf.h", "made"),
        write(tree / "soc" / "zephyr" / "kernel.h", "second"),
        write(tree / "libc" / "string.h", "of the C library"),
    ]
    write(build / "headers.d", "main.o: main.c \\\n " + " \\\n ".join(map(str, headers)) + "\n")
    folders = [tree / "include", build / "zephyr" / "generated", tree / "soc", tree / "libc"]
    objects = [write(build / "objects" / f"{name}.c.obj", "") for name in ("offsets", "isr_tables", "devices")]
    write(
        build / "export_input.cmake",
        f'set(libraries "{write(build / "libs" / "libdrivers.a", "")}")\n'
        f'set(kernel "{write(build / "libs" / "libkernel.a", "")}")\n'
        f'set(objects "{";".join(map(str, objects))}")\n'
        f'set(folders "{";".join(f"-I{path}" for path in folders)}")\n'
        f'set(library_folders "-isystem{folders[-1]}")\n'
        'set(definitions "-DKERNEL;-DHSE_VALUE=8000000")\n',
    )
    read = [*headers, write(tree / "kernel" / "sched.c", "")]
    message = "".join(f"echo '    {path}'\n" for path in read)
    ninja = write(folder / "ninja", f"#!/bin/sh\necho 'a.obj: #deps'\n{message}")
    ninja.chmod(0o755)
    return build


def gather(build: Path) -> subprocess.CompletedProcess[str]:
    script = CONFIG / "application" / "export.cmake"
    words = ["cmake", f"-DBUILD={build}", f"-DNINJA={build.parent / 'ninja'}", "-P", str(script)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_export_is_collected_after_the_build(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    done = gather(build)
    assert done.returncode == 0, done.stderr
    export = build / "export"
    for pattern in (*wants().linked, wants().made_of, *wants().headers):
        assert list(export.glob(pattern)), f"the port links {pattern}"
    assert {path.name for path in (export / "objects").iterdir()} == {"offsets.c.obj", "devices.c.obj"}
    assert (export / "include" / "zephyr" / "kernel.h").read_text() == "first", "as the order of folders has it"
    assert (export / "include" / "autoconf.h").is_file()
    assert not (export / "include" / "string.h").exists(), "the compiler has its own"
    assert (export / "definitions.txt").read_text().split() == ["KERNEL", "HSE_VALUE=8000000"]
    listed = (export / "sources.txt").read_text().split()
    assert str(tmp_path / "tree" / "kernel" / "sched.c") in listed
    assert not [item for item in listed if item.startswith(str(build))]


@pytest.mark.parametrize("driver", DRIVERS)
def test_driver_with_an_interrupt_is_refused(tmp_path: Path, driver: str) -> None:
    done = gather(make_build(tmp_path, TABLES + driver))
    assert done.returncode != 0
    assert "1 interrupt(s) belong to drivers" in done.stderr


@pytest.mark.parametrize(
    "board", sorted(set(Catalogue(find_checkout_root()).boards) & {path.stem for path in CONFIG.iterdir()})
)
def test_each_board_has_its_application(tmp_path: Path, board: str) -> None:
    command_output("kernel", "files", "zephyr", "--board", board, "-o", str(tmp_path))
    (machine,) = re.findall('^CONFIG_BOARD="(.*)"$', (CONFIG / f"{board}.defconfig").read_text(), re.MULTILINE)
    assert f"set(BOARD {machine})" in (tmp_path / "CMakeLists.txt").read_text()
    request = (tmp_path / "prj.conf").read_text()
    assert "CONFIG_BOARD=" not in request
    assert 'CONFIG_COMPILER_OPT="-O2"\n' in request
    assert "CONFIG_HEAP_MEM_POOL_SIZE=" in request
    message = (tmp_path / "README.md").read_text()
    assert f"rtoslab kernel tree add zephyr {tmp_path}/build/export" in message
    assert "{" not in message


def test_linker_script_of_the_last_pass_counts(tmp_path: Path) -> None:
    """In 1.14 the first pass's also places the table that the last one leaves out."""
    build = make_build(tmp_path)
    write(build / "zephyr" / "linker_pass_final.cmd", "SECTIONS { last }\n")
    assert gather(build).returncode == 0
    assert (build / "export" / "scripts" / "zephyr.ld").read_text() == "SECTIONS { last }\n"


def test_zephyr_1_14_gets_only_known_options(tmp_path: Path) -> None:
    """Its build stops at an option that it does not know."""
    command_output("kernel", "files", "zephyr", "--board", "nucleo-f446re", "--version", "1.14.1", "-o", str(tmp_path))
    request = (tmp_path / "prj.conf").read_text()
    assert "THREAD_RUNTIME_STATS" not in request
    assert "CONFIG_FPU" not in request
    assert "CONFIG_FLOAT=y\n" in request
    assert "# CONFIG_TICKLESS_IDLE is not set\n" in request
    assert "rtoslab kernel tree add zephyr-1.14.1 " in (tmp_path / "README.md").read_text()


def test_c_library_is_the_one_without_a_module(tmp_path: Path) -> None:
    """With Zephyr's default of 3.5 and later, picolibc, an export would need its library, and switches take longer."""
    for version, options in (("3.7", 2), ("1.14", 0)):
        folder = tmp_path / version
        command_output("kernel", "files", "zephyr", "--board", "pico" if options else "nucleo-f446re",
                       "--version", version, "-o", str(folder))  # fmt: skip
        request = (folder / "prj.conf").read_text()
        assert request.count("CONFIG_MINIMAL_LIBC=y\n") + request.count("THREAD_LOCAL_STORAGE is not set\n") == options


def test_zephyr_1_14_differences() -> None:
    facts = Catalogue(find_checkout_root()).find_kernel("zephyr").facts
    earlier = facts.kernel_facts_of_earlier_version(["k_timeout_t"])
    assert facts.services["condition"]
    assert not earlier.services["condition"]
    assert facts.services["work"], "whose calls are others in 1.14"
    assert not {"condition_broadcast", "task_join", "timer", "work"} & {
        name for name, has in earlier.services.items() if has
    }
    assert "mutex_unlock" in facts.results
    assert "mutex_unlock" not in earlier.results
    assert "mutex_lock" in earlier.results
    assert earlier.probes is not None
    assert earlier.probes.switch_symbol == "__pendsv"
    assert earlier.probes.idle_symbols == ("idle",)
    assert earlier.memory is not None
    assert earlier.memory.pool_used_symbol == "memory_used"
    assert earlier.memory.task_block is not None
    assert earlier.behaviour.heap_align_bytes == 4


def test_application_reads_every_header_that_the_port_reads() -> None:
    """An export has only those that the application read."""
    port = CONFIG.parent
    included = [set(filter(lambda line: line.startswith("#include <"), path.read_text().splitlines())) for path in (
        CONFIG / "application" / "main.c", port / "port.h", port / "earlier.h", port / "port.c")]  # fmt: skip
    assert included[0] >= set().union(*included[1:])
