"""The command `rtoslab`. One module per subcommand; this one gathers them and is the only place that prints errors."""

import importlib
import pkgutil
import sys

import click

from rtoslab.cli.altered import told
from rtoslab.errors import EXIT_ERROR, EXIT_INTERRUPTED, RtoslabError, disk_error


class _Commands(click.Group):
    """Finds subcommands by their modules' names; imports one only when it is used, so that the command starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Every `cmd_*` module beside this one."""
        return sorted(
            info.name.removeprefix(_PREFIX).replace("_", "-")
            for info in pkgutil.iter_modules(__path__)
            if info.name.startswith(_PREFIX)
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"{__name__}.{_PREFIX}{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command


_PREFIX = "cmd_"


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="rtoslab")
def app() -> None:
    """A laboratory for RTOS benchmarking, on real boards and on a cycle-level virtual board.

    \b
    Exit codes: 0 done; 1 error in use or environment; 2 command line not understood;
    3 a point failed (proof, fault, unreadable records); 130 interrupted, finished work kept.
    """


def main() -> None:
    """Entry point of the console script."""
    try:
        with told() as sentences:
            code = app.main(prog_name="rtoslab", standalone_mode=False)
        sys.exit((code if isinstance(code, int) else 0) or (EXIT_ERROR if sentences else 0))
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as misuse:
        misuse.show()
        sys.exit(misuse.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; what was finished is kept.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except RtoslabError as error:
        click.echo(f"rtoslab: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_ERROR)
    except OSError as error:
        from pathlib import Path  # noqa: PLC0415

        click.echo(f"rtoslab: {disk_error('use', Path(str(error.filename or 'the file')), error)}", err=True)
        sys.exit(EXIT_ERROR)
