"""What a kind of input is: seeds of it, what damages them, what reads it, and what may be raised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

from rtoslab.base.errors import CatalogueError, RtoslabError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.strict_files import validate_table
from rtoslab.intake.tables import parse_toml_table
from tests.inputs.mutate import damage_input

Read = Callable[[bytes], object]


@dataclass(frozen=True)
class Kind:
    """One kind of input."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    read: Read
    refusals: tuple[type[Exception], ...] = (RtoslabError,)
    alter: Callable[[bytes, Random, bytes], bytes] = field(default=damage_input)
    """Damages a seed; where a check sum would refuse all damage, it is made right again."""

    def made(self, random: Random) -> bytes:
        """One input."""
        seeds = _seeds(self)
        return self.alter(random.choice(seeds), random, random.choice(seeds))

    def refuses(self, data: bytes) -> str | None:
        """The sentence; None if it was read. Raises whatever else the reader raises."""
        try:
            self.read(data)
        except self.refusals as cause:
            return str(getattr(cause, "message", cause))
        return None


@cache
def _seeds(kind: Kind) -> Sequence[bytes]:
    return kind.seeds()


def text_of(data: bytes) -> str:
    """As the guarded reader of files gives it: what is no text never comes further."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise CatalogueError(f"no text: {cause.reason}") from None


def files(*patterns: str) -> Callable[[], Sequence[bytes]]:
    """Seeds: files of the repository."""
    return lambda: [path.read_bytes() for pattern in patterns for path in sorted(find_checkout_root().glob(pattern))]


def model(of: type) -> Read:
    """A reader: TOML into a model."""
    return lambda data: validate_table(parse_toml_table(text_of(data), "x", CatalogueError), "x", of)
