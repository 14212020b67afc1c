"""`rtoslab demo`: the first thing to try, in an empty folder as well as in a checkout."""

from pathlib import Path

import click

from rtoslab.base import how_to_install_extra, missing_extra_package
from rtoslab.catalogue import DEMO_SUITE
from rtoslab.cli.choices import dry_run_option, jobs_option, out_option
from rtoslab.cli.cmd_run import run_command as run
from rtoslab.images import require_build_programs


@click.command("demo")
@out_option
@jobs_option
@dry_run_option
@click.pass_context
def demo_command(context: click.Context, out: Path | None, jobs: int, *, dry_run: bool) -> int:
    """Measure eight kernel tests (T1 to T8) with FreeRTOS on the virtual Raspberry Pi Pico, on one core and on two.
    Write a report.

    The same as `rtoslab run vieira2026 --cores 1,2 --report`. No board is needed. The first run takes a minute or two.
    The HTML report needs the optional packages of `rtoslab[report]`.
    """
    require_build_programs()
    charts = not missing_extra_package("report")
    code: int = context.invoke(
        run, names=(DEMO_SUITE,), cores=(1, 2), out=out, jobs=jobs, dry_run=dry_run, report=charts
    )
    if not charts and not dry_run:
        click.echo(f"For a report.html with charts, {how_to_install_extra('report')}. The report.md needs no extra.")
    return code
