"""Groups of commands that import a command's module only when it is used, so that `rtoslab` starts fast."""

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyCommandGroup(click.Group):
    """A click group whose further subcommands are in modules of this package.

    `modules`: subcommand -> module. The module's command is called as the module, with `_command` at the end.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of all subcommands, without importing one."""
        return sorted({*super().list_commands(ctx), *self.modules})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns the subcommand of that name, whose module is imported now. None if there is none."""
        module = self.modules.get(cmd_name)
        return super().get_command(ctx, cmd_name) if module is None else import_command_from_module(module)


def import_command_from_module(module: str) -> click.Command:
    """Returns the command of a module of this package."""
    command = getattr(importlib.import_module(f"rtoslab.cli.{module}"), f"{module.removeprefix('cmd_')}_command")
    assert isinstance(command, click.Command)
    return command
