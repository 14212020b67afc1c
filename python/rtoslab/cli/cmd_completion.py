"""`rtoslab completion`: prints the shell's completion script."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script for command completion in SHELL, to be used as `eval "$(rtoslab completion bash)"`."""
    kind = get_completion_class(shell)
    assert kind is not None
    root = context.find_root()
    click.echo(kind(root.command, {}, "rtoslab", "_RTOSLAB_COMPLETE").source())
