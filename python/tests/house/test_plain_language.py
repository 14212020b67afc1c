"""Names and sentences stay plain: habits of our own dialect that kept readers out do not come back.

Each habit has a limit, a share of all names or sentences. Well-known codebases of the field meet these limits. A
failure lists names and sentences with their places. The word list is short on purpose: it has the words that
readers who did not know us misread most often."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root

ROOT = find_checkout_root()
UNCLEAR_WORDS = frozenset(
    [
        "asked",
        "told",
        "said",
        "made",
        "each",
        "found",
        "there",
        "kept",
        "wanted",
        "bears",
        "stands",
        "foresee",
        "strangers",
        "brought",
        "vain",
        "manner",
        "clerk",
        "outlook",
    ]
)
"""Words that say nothing as a part of a name: name the thing, for example `request`, `message`, `match`, `row`."""
PARTICIPLES = frozenset(
    [
        "told",
        "said",
        "made",
        "kept",
        "found",
        "known",
        "seen",
        "drawn",
        "given",
        "taken",
        "held",
        "brought",
        "built",
        "sent",
        "shown",
        "written",
    ]
)
ADJECTIVES = frozenset(
    [
        "sorted",
        "reversed",
        "cached",
        "shared",
        "failed",
        "named",
        "typed",
        "nested",
        "embedded",
        "need",
        "feed",
        "speed",
        "seed",
        "exceed",
        "proceed",
    ]
)
"""Words that end like a participle and are none, or name a thing by the custom of the language."""
NO_HEAD = re.compile(r"(Of|By|From|None|What|Whatever|Whoever|In|On|At|To|With|Beside|Behind|As|For)\b")
NO_SUBJECT = re.compile(r"(What|Whatever|Whoever|Where|Of|That which|Who)\b")
DIALECT = re.compile(
    r"\b(of which|of whose|of what|(is|are) told of|in vain|again and again|code of the host)\b", re.IGNORECASE
)
UNCLEAR_MESSAGE = re.compile(
    r"(?<!there )\b(is|are) no (?!longer\b|more\b|gain\b)|\bsay(s)? --|\banew\b|\bholds (a|an|more|no|what)\b"
    r"|\bcannot be told\b|\bstands? (beside|for|in|there|twice)\b|\blies? (behind|elsewhere|in|outside)\b"
    r"|\bof its own\b|\bin vain\b|\bonce more\b|\bas said\b|\bhad nothing\b|\bwhat was read\b",
    re.IGNORECASE,
)
"""Phrases in errors, help texts and reports that readers did not understand at once."""
UNCLEAR_TEST_NAME = re.compile(
    r"(what|of|who|whoever|whatever|that|without|where|when|as|by|from|on|in)_(?!a_|an_|the_|one_|two_|several_)\w+_"
    r"(is|are|has|have|says?|counts?|shows?|tells?|stands?|gives?)_|.*_(told|said|anew|nobody|whose|wanted|asked|of_ones)"
    r"(_|$)|(what|whoever|whatever|of)_"
)
"""Names of tests without a subject in front, or with words of our own dialect."""
RUST_TEST = re.compile(r"#\[test\]\s*(?:#\[[^\]]*\]\s*)*fn (\w+)")
RUST_ITEM = re.compile(
    r'\s*(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe |extern "C" )*(fn|struct|enum|trait|type) (\w+)'
)
RUST_BINDING = re.compile(r"\blet (?:mut )?(\w+)|\bfor (\w+) in\b|\|(\w+)\|")


@dataclass
class Language:
    """Names and prose of the code and the documents, each with its place `file:line`."""

    functions: list[tuple[str, str]] = field(default_factory=list)
    types: list[tuple[str, str]] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)
    docstrings: list[tuple[str, str]] = field(default_factory=list)
    sentences: list[tuple[str, str]] = field(default_factory=list)
    messages: list[tuple[str, str]] = field(default_factory=list)
    """Texts that a user reads in a terminal or a report."""
    tests: list[tuple[str, str]] = field(default_factory=list)
    """Names of test functions, without `test_`."""

    def add_docstring(self, place: str, text: str) -> None:
        """Add a docstring, and its sentences."""
        self.docstrings.append((place, text.strip().split("\n")[0]))
        self.sentences += ((place, sentence) for sentence in split_sentences(text))


def words(name: str) -> list[str]:
    """The words of a name in snake case or camel case, in small letters."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def is_participle(word: str) -> bool:
    """Whether a word only says what happened to a thing."""
    return word not in ADJECTIVES and (word in PARTICIPLES or (len(word) > 4 and word.endswith("ed")))


def split_sentences(text: str) -> Iterator[str]:
    """Sentences of more than three words, without code blocks, tables, headings and indented lines."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = [line for line in text.split("\n") if not line.startswith(("    ", "|", "#", "<"))]
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", "\n".join(lines))
    text = re.sub(r"\n(?=[-*\d])", ". ", text).replace("\n", " ")
    yield from (part.strip(" -*") for part in re.split(r"(?<=[.!?])\s+", text) if len(part.split()) > 3)


def read_python(language: Language, path: Path) -> None:
    """Add what a Python file defines, binds and explains."""
    shown = path.relative_to(ROOT)
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        place = f"{shown}:{getattr(node, 'lineno', 1)}"
        if isinstance(node, ast.ClassDef):
            language.types.append((place, node.name))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            language.functions.append((place, node.name.strip("_")))
        elif isinstance(node, ast.arg):
            language.names.append((place, node.arg))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            language.names.append((place, node.id))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) and (
            text := ast.get_docstring(node)
        ):
            language.add_docstring(place, text)
    language.messages += ((f"{shown}:{line}", text) for line, text in message_texts(tree))


def message_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yields (line, text) of each string with three words or more that is not a docstring. Placeholders become `…`."""
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(value) for value in node.values}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.add(id(node.value))
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(value.value) if isinstance(value, ast.Constant) else "…" for value in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            text = node.value
        if len(text.split()) >= 3:
            yield getattr(node, "lineno", 1), " ".join(text.split())


def read_tests(language: Language, path: Path) -> None:
    """Add the names of the tests in a Python or Rust file."""
    shown = path.relative_to(ROOT)
    text = path.read_text()
    names = RUST_TEST.findall(text) if path.suffix == ".rs" else re.findall(r"^def test_(\w+)", text, re.MULTILINE)
    language.tests += ((str(shown), name) for name in names)


def read_rust(language: Language, path: Path) -> None:
    """Add what a Rust file defines, binds and explains. Doc comments belong to the item after them."""
    shown = path.relative_to(ROOT)
    doc: list[str] = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        place = f"{shown}:{number}"
        text = line.strip()
        if text.startswith(("///", "//!")):
            doc.append(text[3:].strip())
            continue
        if item := RUST_ITEM.match(line):
            (language.functions if item[1] == "fn" else language.types).append((place, item[2]))
        if doc and text and not text.startswith("#["):
            language.add_docstring(place, "\n".join(doc))
            doc = []
        language.names += ((place, name) for match in RUST_BINDING.findall(line) for name in match if name)


def read_page(language: Language, path: Path) -> None:
    """Add the sentences of a Markdown page, paragraph by paragraph."""
    prose = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for number, block in enumerate(re.split(r"\n\s*\n", prose), 1):
        place = f"{path.relative_to(ROOT)} (paragraph {number})"
        language.sentences += ((place, sentence) for sentence in split_sentences(block))


@cache
def project_language() -> Language:
    """The language of all code that users and developers read, without generated pages. Of tests only their names."""
    language = Language()
    for path in sorted((ROOT / "python" / "rtoslab").rglob("*.py")):
        read_python(language, path)
    for path in sorted(path for path in (ROOT / "sim").rglob("*.rs") if not {"target", "tests"} & set(path.parts)):
        read_rust(language, path)
    for path in sorted([*(ROOT / "python" / "tests").rglob("test_*.py"), *(ROOT / "sim").rglob("*.rs")]):
        if "target" not in path.parts:
            read_tests(language, path)
    for path in sorted(
        [
            *ROOT.glob("*.md"),
            *(ROOT / "docs").glob("*.md"),
            *(ROOT / "docs" / "kernels").glob("*.md"),
            *(ROOT / "spec").glob("*.md"),
        ]
    ):
        read_page(language, path)
    return language


@dataclass(frozen=True)
class Habit:
    """A habit of language, among what it is counted, and the share of it that is still readable."""

    name: str
    population: Callable[[Language], list[tuple[str, str]]]
    occurs: Callable[[str], bool]
    limit: float


HABITS = (
    Habit(
        "unclear words in names", lambda all_: all_.names, lambda name: bool(UNCLEAR_WORDS & set(words(name))), 0.004
    ),
    Habit(
        "functions named by a participle",
        lambda all_: all_.functions,
        lambda name: is_participle((words(name) or [""])[0]),
        0.03,
    ),
    Habit(
        "types named by a bare participle",
        lambda all_: all_.types,
        lambda name: len(words(name)) == 1 and is_participle(name.lower()),
        0.005,
    ),
    Habit("docstrings without a head", lambda all_: all_.docstrings, lambda text: bool(NO_HEAD.match(text)), 0.02),
    Habit("sentences with a semicolon", lambda all_: all_.sentences, lambda text: ";" in text, 0.04),
    Habit(
        "sentences without a subject in front",
        lambda all_: all_.sentences,
        lambda text: bool(NO_SUBJECT.match(text)),
        0.007,
    ),
    Habit(
        "unclear phrases in messages", lambda all_: all_.messages, lambda text: bool(UNCLEAR_MESSAGE.search(text)), 0.01
    ),
    Habit("unclear names of tests", lambda all_: all_.tests, lambda name: bool(UNCLEAR_TEST_NAME.match(name)), 0.01),
    Habit("phrases of our own dialect", lambda all_: all_.sentences, lambda text: bool(DIALECT.search(text)), 0.0015),
)


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.name)
def test_habit_is_rare(habit: Habit) -> None:
    population = habit.population(project_language())
    places = [f"{place}: {text[:100]}" for place, text in population if habit.occurs(text)]
    allowed = int(habit.limit * len(population))
    assert len(population) > 1000
    assert len(places) <= allowed, f"{len(places)} {habit.name}, at most {allowed} of {len(population)}:\n" + "\n".join(
        places[:40]
    )


@pytest.mark.parametrize(
    ("habit", "text"),
    [
        ("unclear words in names", "files_found"),
        ("functions named by a participle", "told_again"),
        ("types named by a bare participle", "Made"),
        ("docstrings without a head", "Of one kind, or a part of its inputs."),
        ("sentences with a semicolon", "It runs; it ends."),
        ("sentences without a subject in front", "What an engine leaves to the machine is told."),
        ("unclear phrases in messages", "The file is no capture; say --form."),
        ("unclear names of tests", "what_is_no_capture_is_refused"),
        ("phrases of our own dialect", "The tasks, of which one waits, run."),
    ],
)
def test_habit_is_recognised(habit: str, text: str) -> None:
    (match,) = [candidate for candidate in HABITS if candidate.name == habit]
    assert match.occurs(text)
