"""Code that a port's headers put into the kernel's functions, and levels that a source file asks for itself."""

from pathlib import Path

import pytest

from rtoslab.base import BuildError
from rtoslab.images.builder import build_measurement_point_image
from rtoslab.images.inserted_code import files_with_own_optimisation_level, hook_macro_code, read_source_contents
from tests.checkouts import copy_checkout
from tests.images.test_build_environment import a_point

KERNEL = """
#ifndef traceSWITCHED
    #define traceSWITCHED()
#endif
#ifndef traceSENT /* a queue's */
    /* Called after each message. */
    #define traceSENT( queue )    do { } while( 0 )
#endif
#if !defined( EXTENSION )
#define EXTENSION(thread) \\
    ((void)(thread))
#endif
#ifndef configASSERT
    #define configASSERT( x )
#endif
#ifndef portCORE
    #define portCORE() 0
#endif
#define traceFIXED()
"""


@pytest.mark.parametrize(
    ("macro", "found"),
    [
        ("traceSWITCHED() spin()", True),
        ("traceSENT(queue) do { count++; } while (0)", True),
        ("EXTENSION(thread) (thread)->seen = 1;", True),
        ('traceSWITCHED() __asm volatile("nop")', True),
        ("traceSWITCHED() SPIN", True),
        ("configASSERT(x) if (!(x)) stop()", True),
        ("traceSWITCHED() port_hook_choice_begin()", True),
        ("traceSWITCHED()", False),
        ("traceSENT(queue) ((void)0)", False),
        ("traceSENT(queue) (void)(queue)", False),
        ("portCORE() core_number()", False),
        ("traceFIXED() spin()", False),
        ("configTICKS 1000", False),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_code_is_found_only_in_macros_that_the_kernel_leaves_empty(
    tmp_path: Path, macro: str, found: bool, line_end: str
) -> None:
    (tmp_path / "config.h").write_text(f"#pragma once\n #  define {macro}\n", newline=line_end)
    (tmp_path / "kernel.h").write_text(KERNEL, newline=line_end)
    macros = f"#define OTHER 1\n#define {macro}\n"
    result = hook_macro_code(macros, read_source_contents([str(tmp_path / "config.h")]), [str(tmp_path / "kernel.h")])
    name, _, text = macro.partition(" ")
    assert result == ({name.partition("(")[0]: text} if found else {})


@pytest.mark.parametrize(
    ("macro", "setting"),
    [
        ("traceSWITCHED() port_hook_choice_begin()", "BENCH_NEEDS_HOOKS 1"),
        ("configASSERT(x) if (!(x)) stop()", "configBENCH_ASSERT 1"),
        ("configASSERT(x) if (!(x)) stop()", "configBENCH_ASSERT (1)"),
    ],
)
def test_code_that_a_setting_states_is_allowed(tmp_path: Path, macro: str, setting: str) -> None:
    (tmp_path / "config.h").write_text(f"#define {macro}\n")
    (tmp_path / "kernel.h").write_text(KERNEL)
    files = read_source_contents([str(tmp_path / "config.h")]), [str(tmp_path / "kernel.h")]
    assert hook_macro_code(f"#define {macro}\n#define {setting}\n", *files) == {}
    off = setting.replace("1", "0")
    # The kernel defines the last one itself, wherever the assertion is defined.
    assert hook_macro_code(f"#define {macro}\n#define {off}\n#define configASSERT_DEFINED 1\n", *files) != {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#pragma GCC optimize (0)", True),
        ('  #  pragma GCC optimize "O3"', True),
        ('_Pragma("GCC optimize (\\"O0\\")")', True),
        ('__attribute__((noinline, optimize("O0"))) void f(void);', True),
        ("__attribute__((__optimize__(3))) void f(void);", True),
        ("__attribute__((optnone)) void f(void);", True),
        ("#pragma GCC diagnostic push", False),
        ("int optimize(int level);", False),
        ("/* the compiler may optimize this away */", False),
    ],
)
def test_own_levels_are_found_in_pragmas_and_attributes(tmp_path: Path, text: str, found: bool) -> None:
    file = tmp_path / "a.h"
    file.write_text(f"int x;\n{text}\n")
    assert files_with_own_optimisation_level(read_source_contents([str(file), str(tmp_path / "missing.h")])) == (
        [str(file)] if found else []
    )


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("#define traceTASK_SWITCHED_IN() port_slow()\nvoid port_slow(void);\n", "defines traceTASK_SWITCHED_IN as"),
        ("#pragma GCC optimize (0)\n", r"FreeRTOSConfig\.h asks the compiler for another optimisation"),
    ],
)
def test_a_port_that_changes_the_kernels_functions_gives_no_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, added: str, message: str
) -> None:
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path / "build"))
    root = copy_checkout(tmp_path / "checkout")
    config = root / "firmware/kernels/freertos/config/FreeRTOSConfig.h"
    config.write_text(config.read_text() + added)
    port = root / "firmware/kernels/freertos/port.c"
    port.write_text(port.read_text() + "\nvoid port_slow(void);\nvoid port_slow(void)\n{\n}\n")
    with pytest.raises(BuildError, match=message):
        build_measurement_point_image(*a_point(root))
