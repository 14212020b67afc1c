"""Pages do not drift: their commands parse, the files these name are there, recorded sessions are what is printed."""

import re
from itertools import pairwise
from pathlib import Path

import click
import pytest

from rtoslab.cli import app
from tests.doc_pages import PAGES, ROOT, Command, Session, commands, refresh, sessions

COMMANDS = [command for page in PAGES for command in commands(page)]
SESSIONS = [session for page in PAGES for session in sessions(page)]
SUFFIXES = {".toml", ".json", ".csv", ".txt", ".sr", ".vcd", ".elf", ".uf2"}
WRITING = {"-o", "--output", "--out", "--html", "--save"}
PLACEHOLDERS = {"KEY=N": "configTICK_RATE_HZ=100", "K": "freertos", "B": "pico", "N": "5", "S": "1", "NAME": "pico"}
"""What a page writes for a value that a reader chooses, and one that parses."""


def assert_parses(command: Command) -> None:
    """Raises click's error if the program would not understand the command."""
    words = [PLACEHOLDERS.get(word, word) for word in command.words]
    result: click.Command = app
    context: click.Context | None = None
    while True:
        try:
            context = result.make_context(result.name, list(words), parent=context)
        except (click.MissingParameter, click.exceptions.Exit):
            return  # a sentence may speak of an option alone, or of `--help`, which ends the command
        words = [*context._protected_args, *context.args]
        if not isinstance(result, click.Group) or not words:
            return
        _, deeper, words = result.resolve_command(context, words)
        assert deeper is not None, command.text
        result = deeper


@pytest.mark.parametrize("command", [each for each in COMMANDS if not each.abridged], ids=str)
def test_documented_command_is_valid(command: Command) -> None:
    if len(command.words) > 1:
        assert_parses(command)
    else:
        assert command.words[0] in app.list_commands(click.Context(app))


def missing(command: Command, written: set[str]) -> list[str]:
    """Files that it reads and nobody has: not in the checkout, not written above, not in capitals (a reader's)."""
    words = command.words
    outputs = {name for option, name in pairwise(words) if option in WRITING}
    named = [word for word in words if Path(word).suffix in SUFFIXES and "=" not in word and word not in outputs]
    absent = [
        item for item in named if not (ROOT / item).exists() and item not in written and not Path(item).stem.isupper()
    ]
    written |= outputs
    return absent


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_in_documented_commands_exist(page: Path) -> None:
    written: set[str] = set()
    assert [str(command) for command in commands(page) if missing(command, written)] == []


def test_pages_contain_sessions_and_commands() -> None:
    assert len(COMMANDS) > 80
    assert any(session.quick for session in SESSIONS)


@pytest.mark.parametrize("session", SESSIONS, ids=str)
def test_sessions_contain_no_hash_of_sources(session: Session) -> None:
    assert not [line for line in session.shown if re.search(r"runs/\S+-[0-9a-f]{8}\b", line)], "cut it off with | head"


@pytest.mark.parametrize("session", [each for each in SESSIONS if each.quick], ids=str)
def test_quick_session_prints_the_documented_output(session: Session) -> None:
    assert session.run() == session.shown, "`make docs` writes it again"


def test_outdated_session_is_updated(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n    $ rtoslab list boards | head -2\n    wrong\n\n    wrong\n\nAfter.\n")
    (old,) = sessions(page)
    assert old.shown == ("wrong", "", "wrong")
    page_again = refresh_text(page)
    assert page_again.startswith("Before.\n\n    $ rtoslab list boards | head -2\n")
    assert page_again.endswith("\n\nAfter.\n")
    (new,) = sessions(page)
    assert len(new.shown) == 2
    assert refresh(page) == []


def refresh_text(page: Path) -> str:
    assert len(refresh(page)) == 1
    return page.read_text()


@pytest.mark.parametrize(
    "text", ["rtoslab run t2 --bord pico", "rtoslab run t2 --cores x", "rtoslab lost", "rtoslab rta break --lost"]
)
def test_invalid_documented_command_is_found(text: str) -> None:
    with pytest.raises((click.ClickException, AssertionError)):
        assert_parses(Command(ROOT / "README.md", 1, text))


def test_missing_documented_file_is_found() -> None:
    def of(text: str) -> Command:
        return Command(ROOT / "README.md", 1, text)

    assert missing(of("rtoslab rta lost.toml"), set()) == ["lost.toml"]
    written: set[str] = set()
    assert missing(of("rtoslab pins record t2 -o pins.vcd"), written) == []
    assert missing(of("rtoslab pins decode pins.vcd"), written) == []
    assert missing(of("rtoslab sim IMAGE.elf"), set()) == []
