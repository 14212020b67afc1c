"""`rtoslab pins`: a board's pins in the file formats of logic analyzers and oscilloscopes."""

import click

from rtoslab.cli.lazy_group import LazyCommandGroup


@click.group("pins", cls=LazyCommandGroup, modules={"decode": "pins_decode", "record": "pins_record"})
def pins_command() -> None:
    """Record the pins of a virtual or real board in a capture file, or read a capture file (docs/captures.md)."""
