"""Test code only: a kernel of two functions as a tree, and its port in a folder outside the checkout.

The port is that of `bare`, less what the tree gives: giving and taking a semaphore. A macro of the tree's header stands
in the give, so that an edited header moves a figure.
"""

import re
import shutil
import subprocess
from pathlib import Path

from rtoslab.base.paths import find_checkout_root

HEADER = """#pragma once
#include <stdbool.h>
#include <stdint.h>
#define TINY_VERSION "1.5" /* of this kernel */
#define TINY_PAUSE
struct bare_semaphore {
    volatile uint32_t count;
    uint32_t maximum;
};
uint32_t tiny_mask(void);
void tiny_unmask(uint32_t before);
"""
KERNEL = """#include "tiny.h"
bool bare_semaphore_take(struct bare_semaphore *semaphore);
bool bare_semaphore_give(struct bare_semaphore *semaphore);
bool bare_semaphore_take(struct bare_semaphore *semaphore)
{
    uint32_t before = tiny_mask();
    while (semaphore->count == 0) {
        __asm volatile("wfi" ::: "memory");
        tiny_unmask(before);
        before = tiny_mask();
    }
    semaphore->count = semaphore->count - 1u;
    tiny_unmask(before);
    return true;
}
bool bare_semaphore_give(struct bare_semaphore *semaphore)
{
    uint32_t before = tiny_mask();
    bool room = semaphore->count < semaphore->maximum;
    TINY_PAUSE
    if (room) {
        semaphore->count = semaphore->count + 1u;
    }
    tiny_unmask(before);
    return room;
}
"""
CPU = """#include "tiny.h"
uint32_t tiny_mask(void)
{
    uint32_t before;
    __asm volatile("mrs %0, PRIMASK\\n\\tcpsid i" : "=r"(before)::"memory");
    return before;
}
void tiny_unmask(uint32_t before)
{
    __asm volatile("msr PRIMASK, %0" ::"r"(before) : "memory");
}
"""
WANTS = """
[tree]
headers = ["tiny.h"]
avoid = ["old"]
skip = ["template"]
version = ["TINY_VERSION"]

[tree.cores]
cortex-m0plus = ["v6m"]
cortex-m4f = ["v7m"]
"""


def make_tree(folder: Path) -> Path:
    """The kernel's sources in a checkout of their own, with what a draft must pass by."""
    files = {
        "include/tiny.h": HEADER,
        "kernel/semaphore.c": KERNEL,
        "kernel/template.c": "#error a template is no part of the kernel\n",
        "kernel_old/semaphore.c": KERNEL,
        "ports/v6m/cpu.c": CPU,
        "ports/v7m/cpu.c": CPU,
        "ports/v8m/cpu.c": "#error another core\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://me:secret@example.org/tiny.git")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    """All there is, as one more commit."""
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "as it is")


def git(folder: Path, *words: str) -> None:
    """Raises CalledProcessError."""
    subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)


def make_port(folder: Path) -> Path:
    """A folder `tiny` with the port."""
    port = folder / "tiny"
    shutil.copytree(find_checkout_root() / "firmware" / "kernels" / "bare", port)
    facts = (port / "kernel.toml").read_text()
    facts = facts.replace('id = "bare"', 'id = "tiny"').replace('title = "bare (no kernel)"', 'title = "Tiny"')
    facts = re.sub(r'version = "1"\npackage = ""\npackage_folder = ""\n', "", facts)
    (port / "kernel.toml").write_text(facts + WANTS)
    script = (port / "kernel.cmake").read_text().replace("add_library(kernel INTERFACE)", _LIBRARY)
    script = script.replace('set(KERNEL_SOURCE_DIR "${KERNEL_DIR}")\n', "").replace(
        'set(KERNEL_TARGETS "")', "set(KERNEL_TARGETS tiny_kernel)"
    )
    (port / "kernel.cmake").write_text(script)
    header = (port / "port.h").read_text()
    (port / "port.h").write_text(
        re.sub(r"struct bare_semaphore \{.*?\};\n", '#include "tiny.h"\n', header, count=1, flags=re.DOTALL)
    )
    code = (port / "port.c").read_text()
    for name in ("take", "give"):
        code, times = re.subn(
            rf"bool bare_semaphore_{name}\(struct bare_semaphore \*semaphore\)\n\{{.*?\n\}}\n",
            "",
            code,
            flags=re.DOTALL,
        )
        assert times == 1, "bare's port has changed: this must be cut another way"
    (port / "port.c").write_text(code)
    return port


_LIBRARY = """kernel_from_tree(tiny_kernel)
add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE tiny_kernel)"""
