"""`rtoslab verify`: stored results held against their raw data."""

from pathlib import Path

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, find_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.display import short_path
from rtoslab.cli.ended import answer
from rtoslab.verify import verify_folder


@click.command("verify")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(runs: tuple[Path, ...], as_json: bool) -> int:
    """Decode, prove and compute stored RUNs once more, and say where they differ from what is stored.

    Takes run directories and folders of `worst-case`. Other commands only check the stored hashes, which show that
    no file changed since it was stored. Exit code 3 if anything differs.
    """
    catalogue = Catalogue(find_root())
    found = [each for path in runs for each in verify_folder(catalogue, path)]
    wrong = [each for each in found if each.differences]
    if as_json:
        parts = [
            {"folder": str(each.folder), "differences": each.differences, "remarks": each.remarks} for each in found
        ]
        answer({"verified": parts})
        return EXIT_POINT_FAILED if wrong else EXIT_OK
    for each in wrong:
        click.echo(f"{short_path(each.folder)}:")
        for sentence in each.differences:
            click.echo(f"    {sentence}")
    for remark in dict.fromkeys(remark for each in found for remark in each.remarks):
        touched = sum(remark in each.remarks for each in found)
        click.echo(f"{remark[:1].upper()}{remark[1:]} ({touched} of {len(found)})", err=True)
    count = f"{len(found)} {'point' if len(found) == 1 else 'points'}"
    click.echo(f"{count} verified: " + (f"{len(wrong)} differ." if wrong else "all are what was measured."))
    return EXIT_POINT_FAILED if wrong else EXIT_OK
