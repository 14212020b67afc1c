"""The words in which benchmark.toml says what a round of a benchmark consists of. See `course`.

    0 semaphore_take S      task 0 calls the service with the object that S stands for, always the same one
    isr notify_give T1      a handler calls. T1 is task 1
    0 event_set E 1         further operands are the call's arguments, as the port contract has them
    0 priority_set T2 P1    what the kernel calls the abstract priority 1
    0 mutex_lock_for M 0 fails
    0 malloc {block_bytes}  the value of a parameter
    0 fill                  task 0 writes the last word of the heap block that it holds
    switch 0 1              out of the call in progress, to task 1. `other`: a task that the runner did not make (idle,
                            or one made while the kernel runs), `any`: whichever
    preempt 0 1             a switch that an interrupt asked for, wherever task 0 was
    interrupt soft          a line of board.toml
    tick
    pin up                  the measurement's pin; not asked for where the pin is the instrument
    0 start SERIES, 0 stop SERIES

Before a step `queue: ` binds it to a service: where the kernel lacks that, and so the series that need it are left out,
it is no part of the round.

After a step ? says that it may be missing, * that it may come as often as it likes, +5 that it comes five times or
more. `a | b *` is one of several steps, `( a, b, c ) *` several in a row.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.base import CatalogueError

OTHER = "other"
ANY = "any"
ISR = "isr"
FAILS = "fails"
LINES = ("soft", "asynchronous", "edge")
_OFTEN = re.compile(r"^(?P<words>.*?) ?(?P<often>\?|\*|\+\d+)?$")
_BOUND = re.compile(r"^(?:(?P<service>[a-z_]+): )?(?P<step>.*)$")
_ACTORS = {ISR, ANY, OTHER}


@dataclass(frozen=True, slots=True)
class ExpectedBenchmarkStep:
    """One expected step of a benchmark's round (a pass of its loop), such as a kernel call or a switch."""

    text: str
    kind: str
    """call, fill, switch, preempt, start, stop, tick, interrupt, pin. Either, group: of several, see `parts`"""
    who: str = ""
    """The index of a task, or ISR. For a switch, the task that it leaves."""
    name: str = ""
    """The service, series, line or level. For a switch, the task that it enters."""
    operands: tuple[str, ...] = ()
    fails: bool = False
    least: int = 1
    repeated: bool = False
    """Whether it may come more often than `least`."""
    parts: tuple["ExpectedBenchmarkStep", ...] = ()
    by_yield: bool = False
    """Whether the switch follows a yield that is inlined, so that no function call shows it."""


def select_steps_by_kernel_services(texts: Sequence[str], services: Collection[str]) -> tuple[str, ...]:
    """Returns the texts of a round's steps that apply with these kernel services, without the prefix that names a
    service."""
    steps = []
    for text in texts:
        match = _BOUND.match(text)
        assert match is not None
        if match["service"] is None or match["service"] in services:
            steps.append(match["step"])
    return tuple(steps)


def parse_benchmark_steps(texts: Sequence[str], params: Mapping[str, str]) -> tuple[ExpectedBenchmarkStep, ...]:
    """Parses the steps of a benchmark's round from benchmark.toml. `params` are the benchmark's parameters, whose names
    may occur in a step. Raises CatalogueError for an invalid step."""
    return tuple(_parse_repeated_step(text, params) for text in texts)


def _parse_repeated_step(text: str, params: Mapping[str, str]) -> ExpectedBenchmarkStep:
    """Parses one step of a round and its suffix (`?`, `*` or `+5`), which says how often the step may occur."""
    match = _OFTEN.match(text)
    assert match is not None
    often = match["often"] or ""
    step = replace(_parse_step(match["words"], text, params), text=text)
    if not often:
        return step
    return replace(step, least=int(often[1:] or 0), repeated=often != "?")


def _parse_step(words: str, text: str, params: Mapping[str, str]) -> ExpectedBenchmarkStep:  # noqa: PLR0911 (a return a kind)
    """Parses one step of a round without its suffix of repetition. `text` is the whole step, for the error message."""
    if words.startswith("( ") and words.endswith(" )"):
        return ExpectedBenchmarkStep(text, "group", parts=parse_benchmark_steps(words[2:-2].split(", "), params))
    if " | " in words:
        return ExpectedBenchmarkStep(text, "either", parts=parse_benchmark_steps(words.split(" | "), params))
    match _fill_benchmark_parameters_in_step(words, params).split():
        case ["tick"]:
            return ExpectedBenchmarkStep(text, "tick")
        case ["interrupt", line] if line in LINES:
            return ExpectedBenchmarkStep(text, "interrupt", name=line)
        case ["pin", ("up" | "down") as level]:
            return ExpectedBenchmarkStep(text, "pin", name=level)
        case [("switch" | "preempt") as kind, one, other] if _is_task_or_handler_word(one) and _is_task_or_handler_word(
            other
        ):
            return ExpectedBenchmarkStep(text, kind, one, other)
        case [who, ("start" | "stop") as kind, series] if _is_task_or_handler_word(who):
            return ExpectedBenchmarkStep(text, kind, who, series)
        case [who, "fill"] if _is_task_or_handler_word(who):
            return ExpectedBenchmarkStep(text, "fill", who)
        case [who, service, *operands] if _is_task_or_handler_word(who):
            fails = operands[-1:] == [FAILS]
            return ExpectedBenchmarkStep(text, "call", who, service, tuple(operands[:-1] if fails else operands), fails)
    raise CatalogueError(f"{text!r} is not a step of a round; correct benchmark.toml, see proofs/expected_steps.py.")


def _is_task_or_handler_word(word: str) -> bool:
    """Whether a word of a step names who acts: a task's index, a handler, or any of them."""
    return word.isdecimal() or word in _ACTORS


def _fill_benchmark_parameters_in_step(text: str, params: Mapping[str, str]) -> str:
    """Returns a step's text with the values of the benchmark's parameters in place of their names."""
    try:
        return text.format(**params)
    except (KeyError, IndexError, ValueError):
        raise CatalogueError(
            f"The step {text!r} names no parameter of the benchmark; correct benchmark.toml."
        ) from None
