"""`rtoslab doctor`: what is installed, what is missing, how to get it."""

from dataclasses import asdict

import click
from rich.table import Table

from rtoslab.base import EXIT_ERROR, EXIT_OK, find_checkout_root
from rtoslab.cli.console import PlainConsole, colour_text
from rtoslab.cli.doctor import check_installation
from rtoslab.cli.early_end import print_json_answer


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON list on stdout.")
def doctor_command(as_json: bool) -> int:
    """Check the tools that rtoslab needs. Exit code 1 if something is missing."""
    examined = check_installation(find_checkout_root())
    if as_json:
        print_json_answer([asdict(item) for item in examined], indent=2)
    else:
        table = Table("", "what", "found", "remedy")
        for item in examined:
            table.add_row(
                colour_text("ok", "green") if item.fine else colour_text("missing", "red"),
                item.name,
                item.found,
                item.remedy,
            )
        PlainConsole().print(table)
    return EXIT_OK if all(item.fine for item in examined) else EXIT_ERROR
