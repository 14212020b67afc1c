"""Parameter types of the command line, with completion from the catalogue's folders."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from rtoslab.base import ReportError, RtoslabError, find_checkout_root
from rtoslab.intake import parse_integer, quote_text

_MOST_CORES = 64
_LONGEST_MS = 10**10
_FASTEST_HZ = 10**12
Command = TypeVar("Command", bound=Callable[..., Any])


class CatalogueNameParam(click.ParamType[str]):
    """A parameter type for the name of a kernel, board or other folder.

    Completes from the folders found.
    """

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds
        self.name = "|".join(kind.rstrip("s") for kind in kinds)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Returns the known names that begin with the text typed so far."""
        from rtoslab.catalogue import Catalogue  # noqa: PLC0415 (the shell alone asks for it, and it is slow)

        try:
            catalogue = Catalogue(find_checkout_root())
            names = [name for kind in self.kinds for name in getattr(catalogue, kind)]
        except RtoslabError:
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class PaperNameParam(click.ParamType[str]):
    """A parameter type for the key of a paper, with completion. Completes from the folders found."""

    name = "PAPER"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Returns the keys of papers that begin with the text typed so far."""
        from rtoslab.catalogue import Catalogue, read_papers  # noqa: PLC0415

        try:
            names = read_papers(Catalogue(find_checkout_root()))
        except RtoslabError:
            return []
        return [CompletionItem(key) for key in names if key.startswith(incomplete)]


class PlanOrBenchmarkParam(CatalogueNameParam):
    """A parameter type for a file or the name of a benchmark, with completion of both."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Returns the benchmarks that begin with the text typed so far. If there is none, the shell completes files."""
        return super().shell_complete(ctx, param, incomplete) or [CompletionItem(incomplete, type="file")]


class CatalogueNamesParam(CatalogueNameParam):
    """A parameter type for several names separated by commas, or `all`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Returns the names as one text with commas, without empty names. `split_names` splits them."""
        return ",".join(part.strip() for part in str(value).split(",") if part.strip())


def split_names(values: tuple[str, ...], known: Iterable[str]) -> tuple[str, ...] | None:
    """Returns the names of an option that may be repeated and may have commas, each once and in order. `all` means all
    `known`.

    None if no name was given.
    """
    names = [name for value in values for name in value.split(",") if name]
    return tuple(dict.fromkeys(item for name in names for item in (known if name == "all" else (name,)))) or None


class KeyValueParam(click.ParamType[tuple[str, str]]):
    """A parameter type for `KEY=VALUE`, converted to a pair."""

    name = "KEY=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Returns key and value, which the first equals sign separates. Fails if there is none."""
        if isinstance(value, tuple):
            return value[0], value[1]
        key, sign, text = str(value).partition("=")
        if not sign or not key:
            self.fail(f"{quote_text(str(value))} is not KEY=VALUE", param, ctx)
        return key, text


class IsoDateParam(click.ParamType[str]):
    """A parameter type for a date such as `2026-03-01`, or only its beginning."""

    name = "2026-03-01"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the text unchanged. Fails if it does not have the form of a date or of its beginning."""
        if value and not re.fullmatch(r"\d{4}(-\d{2}(-\d{2}(T[\d:]{1,8}Z?)?)?)?", str(value), re.ASCII):
            self.fail(f"{quote_text(str(value))} is not a date such as 2026-03-01", param, ctx)
        return str(value)


class CoreCountsParam(click.ParamType[tuple[int, ...]]):
    """A parameter type for numbers of cores: `1`, `2` or `1,2`, converted to a tuple of integers."""

    name = "1,2"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Returns the numbers of cores in the given order, each once. Fails for another text."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(dict.fromkeys(parse_integer(part, 1, _MOST_CORES) for part in str(value).split(",")))
        except ValueError:
            self.fail(f"{quote_text(str(value))} is not a list of core counts such as 1,2", param, ctx)


class PinLevelParam(click.ParamType[tuple[str, bool, float]]):
    """A parameter type for `PC13=0` or `PC13=0@10ms`: a pin, its level, and the time in seconds since reset."""

    name = "PIN=0|1[@TIME]"
    _FORM = re.compile(r"(?P<pin>[A-Za-z]{0,2}[0-9]{1,2})=(?P<level>[01])(?:@(?P<time>[0-9]{1,9})(?P<unit>us|ms|s))?")
    _UNITS: ClassVar = {"us": 1e-6, "ms": 1e-3, "s": 1.0, None: 0.0}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, bool, float]:
        """Returns the pin, its level (True is high), and the time in seconds since reset. Fails for another text."""
        match = self._FORM.fullmatch(str(value))
        if match is None:
            self.fail(f"{quote_text(str(value))} is not the level of a pin; write PC13=0 or PC13=0@10ms.", param, ctx)
        return match["pin"].upper(), match["level"] == "1", int(match["time"] or 0) * self._UNITS[match["unit"]]


class PinVoltageParam(click.ParamType[tuple[str, float]]):
    """A parameter type for `PA1=1.2`: a pin and the voltage at it."""

    name = "PIN=VOLTS"
    _FORM = re.compile(r"(?P<pin>[A-Za-z]{0,2}[0-9]{1,2})=(?P<volts>[0-9]{1,2}(?:\.[0-9]{1,6})?)V?")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """Returns the pin and the voltage at it in volts. Fails for another text."""
        match = self._FORM.fullmatch(str(value))
        if match is None:
            self.fail(f"{quote_text(str(value))} is no voltage at a pin; write PA1=1.2.", param, ctx)
        return match["pin"].upper(), float(match["volts"])


class VoltageParam(click.ParamType[float]):
    """A parameter type for a voltage such as `1.65`, `1.65V` or `800mV`, converted to volts."""

    name = "1.65V|800mV"
    _FORM = re.compile(r"(?P<number>-?[0-9]{1,6}(?:\.[0-9]{1,6})?) ?(?P<unit>mV|V)?", re.IGNORECASE)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the voltage in volts. Fails for another text."""
        match = self._FORM.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{quote_text(str(value))} is not a voltage such as 1.65V or 800mV", param, ctx)
        return float(match["number"]) * (1e-3 if (match["unit"] or "").lower() == "mv" else 1.0)


class DurationParam(click.ParamType[int]):
    """A parameter type for a time such as `250ms` or `30s`, converted to milliseconds."""

    name = "250ms|30s"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the time in whole milliseconds, at least one. Fails for another text."""
        if isinstance(value, int):
            return value
        text = str(value).strip().lower()
        for unit, factor in (("ms", 1), ("s", 1000)):
            number = text.removesuffix(unit)
            if text.endswith(unit) and number.isdecimal():
                with suppress(ValueError):
                    return parse_integer(number, 1, _LONGEST_MS // factor) * factor
        return self.fail(f"{quote_text(str(value))} is not a time such as 250ms or 30s", param, ctx)


class FrequencyParam(click.ParamType[int]):
    """A parameter type for a frequency such as `84MHz` or `84000000`, converted to hertz."""

    name = "84MHz|84000000"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the frequency in whole hertz, at least one. Fails for another text."""
        if isinstance(value, int):
            return value
        text = str(value).strip().lower()
        number = text.removesuffix("mhz")
        factor = 1 if number == text else 1_000_000
        with suppress(ValueError):
            if number.isdecimal():
                return parse_integer(number, 1, _FASTEST_HZ // factor) * factor
        return self.fail(f"{quote_text(str(value))} is not a frequency such as 84MHz or 84000000", param, ctx)


class OutputFileParam(click.ParamType[Path]):
    """A parameter type for a file to write, in one of several formats by its suffix.
    Raises ReportError for another suffix, before anything is measured.
    """

    name = "FILE"

    def __init__(self, *forms: str) -> None:
        self.forms = forms

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ARG002
        """Returns the path. `file_format_by_suffix` returns its format. Raises ReportError for another format."""
        path = Path(value)
        if file_format_by_suffix(path) not in self.forms:
            *most, last = (f".{form}" for form in self.forms)
            raise ReportError(f"{path} has no known format; let it end in {', '.join(most)} or {last}.")
        return path


def file_format_by_suffix(path: Path) -> str:
    """Returns the format of a file: its suffix in lower case, without the dot."""
    return path.suffix.lstrip(".").lower()


def report_file_option(*forms: str, **text: str) -> Callable[[Command], Command]:
    """Returns a decorator that adds the repeatable option `-o FILE` for reports in these formats.
    `text` explains a form in words.
    """
    listed = ", ".join(f".{form}" + (f" ({text[form]})" if form in text else "") for form in forms)
    return click.option(
        "-o", "--output", "outputs", multiple=True, type=OutputFileParam(*forms), help=f"Report to write: {listed}."
    )


def parse_option_integer(text: str, option: str) -> int:
    """Returns the integer that an option's text has in decimal or after 0x. Raises click.BadParameter if it is none or
    exceeds 64 bits."""
    try:
        return parse_integer(text)
    except ValueError as cause:
        raise click.BadParameter(f"{option}: {cause}") from None


def options_given_on_command_line(context: click.Context, *options: str) -> list[str]:
    """Returns those of these options that the user gave on the command line, by their parameters' names."""
    return [option for option in options if context.get_parameter_source(option) is ParameterSource.COMMANDLINE]
