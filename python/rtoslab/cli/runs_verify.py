"""`rtoslab runs verify`: stored results held against their raw data."""

from pathlib import Path

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.console import path_from_working_directory
from rtoslab.cli.early_end import print_json_answer
from rtoslab.verify import verify_run_or_sweep_folder


@click.command("verify", short_help="Check stored runs against their raw data.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def runs_verify_command(runs: tuple[Path, ...], as_json: bool) -> int:
    """Compute stored RUNs again from their raw data, with all proofs, and report differences from the stored results.

    A RUN is a run directory or a folder of `rtoslab worst-case`. Other commands only compare stored files with their
    hashes, which shows that nobody changed them. Exit code 3 if a result differs.
    """
    catalogue = Catalogue(find_checkout_root())
    checks = [check for path in runs for check in verify_run_or_sweep_folder(catalogue, path)]
    wrong = [check for check in checks if check.differences]
    if as_json:
        parts = [
            {"folder": str(check.folder), "differences": check.differences, "remarks": check.remarks}
            for check in checks
        ]
        print_json_answer({"verified": parts})
        return EXIT_POINT_FAILED if wrong else EXIT_OK
    for check in wrong:
        click.echo(f"{path_from_working_directory(check.folder)}:")
        for sentence in check.differences:
            click.echo(f"    {sentence}")
    for remark in dict.fromkeys(remark for check in checks for remark in check.remarks):
        touched = sum(remark in check.remarks for check in checks)
        click.echo(f"{remark[:1].upper()}{remark[1:]} ({touched} of {len(checks)})", err=True)
    count = f"{len(checks)} {'point' if len(checks) == 1 else 'points'}"
    click.echo(f"{count} verified: " + (f"{len(wrong)} differ." if wrong else "all results agree with their raw data."))
    return EXIT_POINT_FAILED if wrong else EXIT_OK
