"""`rtoslab kernel`: kernels that users add, their ports, and the results of kernels that come with rtoslab."""

import click

from rtoslab.cli.lazy_group import LazyCommandGroup


@click.group(
    "kernel",
    cls=LazyCommandGroup,
    modules={
        "conformance": "kernel_conformance",
        "files": "kernel_files",
        "reference": "kernel_reference",
        "tree": "kernel_tree",
    },
)
def kernel_command() -> None:
    """Add kernels from their sources or exports, check their ports, and renew the results that come with rtoslab.

    docs/trees.md describes how to add a kernel.
    """
