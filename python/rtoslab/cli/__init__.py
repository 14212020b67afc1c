"""The command `rtoslab`. One module per subcommand. This one gathers them and is the only place that prints errors."""

import os
import pkgutil
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from rtoslab import interrupts
from rtoslab.base import (
    EXIT_ERROR,
    EXIT_INTERRUPTED,
    EXIT_OK,
    RtoslabError,
    make_disk_error,
    missing_module_sentence,
    most_similar_name,
)
from rtoslab.cli.collected_warnings import print_warnings_at_end
from rtoslab.cli.early_end import report_command_interruption
from rtoslab.cli.lazy_group import import_command_from_module
from rtoslab.cli.overview import OLD_WORDS, SECTIONS, replace_obsolete_cli_command_name
from rtoslab.intake import escape_unprintable, make_output_printable


class _CommandGroup(click.Group):
    """The group of all `rtoslab` commands. Imports a command only when it is used, so that `rtoslab` starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Returns the names of all commands: those of the modules `cmd_*` in this folder."""
        return sorted(
            info.name.removeprefix(_PREFIX).replace("_", "-")
            for info in pkgutil.iter_modules(__path__)
            if info.name.startswith(_PREFIX)
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns the command of that name, whose module is imported now. None if there is none."""
        known = cmd_name in self.list_commands(ctx)
        return import_command_from_module(_PREFIX + cmd_name.replace("-", "_")) if known else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves a command as click does, and old words as the new ones. For an unknown name, the error suggests the
        most similar one."""
        if args[0] in OLD_WORDS:
            new = replace_obsolete_cli_command_name(args)
            if not ctx.resilient_parsing:  # a shell completes the line
                _print_error(f"rtoslab: The command `{args[0]}` was renamed; use `rtoslab {shlex.join(new)}`.")
            args = new
        known = self.list_commands(ctx)
        near = None if args[0] in known else most_similar_name(args[0], known, likeness=0.6)
        if near and not args[0].startswith("-"):
            ctx.fail(f"There is no command {escape_unprintable(args[0])!r}; did you mean {near!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes one line for each command in the help, by purpose. No command is imported for it."""
        for section, lines in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(list(lines.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. An interrupt (Ctrl-C or a signal) is reported before click sees it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as cause:
            if sys.stderr.isatty():
                click.echo(err=True)  # the terminal shows ^C on the line
            report_command_interruption(cause)
            return EXIT_INTERRUPTED


_PREFIX = "cmd_"


@click.group(cls=_CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="rtoslab")
@click.option(
    "--tree",
    "places",
    multiple=True,
    metavar="ID=PATH",
    help="Use the source folder PATH for the kernel tree ID, in this call only: `rtoslab --tree ID=PATH run …`.",
)
def app(places: tuple[str, ...]) -> None:
    """A laboratory for RTOS benchmarking, on real boards and on a cycle-level virtual board.

    \b
    Exit codes: 0 done; 1 error in use or environment; 2 command line not
    understood; 3 a point failed (proof, fault, unreadable records);
    130 interrupted, finished work kept.
    """
    if places:
        from rtoslab.cli.tree_places import set_tree_path_variables  # noqa: PLC0415 (it is rarely wanted, and the catalogue slow)

        set_tree_path_variables(places)


def main() -> None:
    """Runs the command, prints every error, and ends the process with its exit code."""
    interrupts.raise_on_signal()
    make_output_printable()
    code = EXIT_INTERRUPTED
    try:
        with print_warnings_at_end() as sentences:
            code = _run_command()
        code = code or (EXIT_ERROR if sentences else EXIT_OK)
        interrupts.stop_handling_signals()
    except KeyboardInterrupt as cause:
        report_command_interruption(cause)
    sys.exit(code)


def _run_command() -> int:  # noqa: PLR0911 (one answer for each way to end)
    """Runs the command and prints its error, if there is one. Returns the exit code."""
    try:
        _remove_bad_environment_variables()
        code = app.main(prog_name="rtoslab", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as misuse:
        misuse.show()
        return misuse.exit_code
    except click.Abort as ended:
        report_command_interruption(ended.__cause__)
        return EXIT_INTERRUPTED
    except RtoslabError as error:
        _print_error(f"rtoslab: {error}")
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that Python's own end does not complain once more
        return EXIT_ERROR
    except OSError as error:
        _print_error(f"rtoslab: {make_disk_error('use', Path(str(error.filename or 'the file')), error)}")
        return EXIT_ERROR
    except MemoryError:
        _print_error(
            "rtoslab: The computer's memory is full; close other programs, or measure fewer points or samples."
        )
        return EXIT_ERROR
    except BaseException as error:
        text = _package_or_simulator_error_text(error)
        if text is None:
            raise
        _print_error(f"rtoslab: {text}")
        return EXIT_ERROR
    return code if isinstance(code, int) else EXIT_OK


def _package_or_simulator_error_text(error: BaseException) -> str | None:
    """Returns a sentence on a missing Python package or a failed simulator. None for any other error."""
    if isinstance(error, ModuleNotFoundError):
        return missing_module_sentence(error)
    from rtoslab.targets import is_simulator_panic  # noqa: PLC0415 (it is rarely wanted)

    if is_simulator_panic(error):
        return f"The simulator failed ({error}); please report this with the image and the command."
    return None


def _print_error(text: str) -> None:
    """Prints a message on stderr, with escapes for characters that cannot be printed."""
    with suppress(OSError):
        click.echo(escape_unprintable(text), err=True)


def _remove_bad_environment_variables() -> None:
    """Removes environment variables on which other libraries fail: an invalid terminal size, half a shell
    completion."""
    for name in ("COLUMNS", "LINES"):
        if not re.fullmatch(r"[1-9]\d{0,3}", os.environ.get(name, "80"), re.ASCII):
            del os.environ[name]
    place = os.environ.get("COMP_CWORD", "")
    if "_RTOSLAB_COMPLETE" in os.environ and not re.fullmatch(r"\d{0,4}", place, re.ASCII):
        del os.environ["_RTOSLAB_COMPLETE"]
