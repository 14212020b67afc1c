"""Checks our pages in a browser: makes one of each kind, opens it at three widths, in light and dark, and prints it.

    make report-check                  # installs chromium, and the group page-check of pyproject.toml, then runs this
    python bench/run.py report_check a.html …   # only these pages

axe-core's rules must hold (WCAG 2 A and AA, and its best practices). Besides, nothing may be wider than the page, no
script may fail, a click must sort a table, and folded tables must be open on paper.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from rtoslab.base import EXIT_POINT_FAILED, find_checkout_root

WIDTHS = (390, 768, 1280)
HEIGHT = 900
FOLDER = find_checkout_root() / "build" / "pages"
BOARD = ("--kernel", "freertos", "--board", "nucleo-f446re")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
_WIDER = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""
_SORTED = """() => {
  for (const table of document.querySelectorAll("table")) {
    const button = table.querySelector("th button");
    if (!button) continue;
    for (const fold of document.querySelectorAll("details")) if (fold.contains(table)) fold.open = true;
    button.click();
    return button.parentElement.getAttribute("aria-sort") === "ascending";
  }
  return true;
}"""
_FOLDED = """() => [...document.querySelectorAll("details")].filter(each => {
  const box = each.querySelector("table").getBoundingClientRect();
  return box.height === 0 || !each.querySelector("td").checkVisibility({contentVisibilityAuto: true});
}).length"""


def make_pages() -> list[Path]:
    """Makes a page of each kind by a user's commands, and returns their paths. Earlier measurements are cached."""
    FOLDER.mkdir(parents=True, exist_ok=True)

    def page(name: str) -> Path:
        return FOLDER / f"{name}.html"

    def folder(name: str) -> str:
        return str(FOLDER / "runs" / name)

    commands: list[tuple[str, ...]] = [
        ("run", "vieira2026", "--cores", "1,2", "--out", folder("vieira")),
        ("report", folder("vieira"), "-o", str(page("vieira"))),
        ("run", "context_switch", "interrupt_latency", *BOARD, "--out", folder("latency")),
        ("report", folder("latency"), "-o", str(page("latency"))),
        ("run", "t2", "t6", *BOARD, "--cores", "1", "--out", folder("o2")),
        ("run", "t2", "t6", *BOARD, "--cores", "1", "--config", "opt=-Os", "--out", folder("os")),
        ("compare", folder("o2"), folder("os"), "-o", str(page("compare"))),
        ("worst-case", *BOARD, "--service", "semaphore", "--out", folder("worst-case")),
        ("rta", "examples/response-time/control.toml", *BOARD, "--check", "-o", str(page("rta"))),
        ("profile", "t2", *BOARD, "--html", str(page("profile"))),
        ("choose", "-o", str(page("kernels"))),
        ("choose", "--board", "nucleo-f446re", "-o", str(page("choice"))),
        ("sweep", "examples/sweep/small.toml", "--out", folder("sweep"), "-o", str(page("sweep"))),
        ("diagnose", str(build_scene()), "--board", "nucleo-f446re", "-o", str(page("diagnosis"))),
    ]
    for command in commands:
        done = subprocess.run(
            ["rtoslab", *command], capture_output=True, text=True, check=False, cwd=find_checkout_root()
        )
        if done.returncode and not (command[0] == "diagnose" and done.returncode == EXIT_POINT_FAILED):
            sys.exit(f"rtoslab {' '.join(command)} failed: {done.stderr.strip()}")
    (pages,) = (FOLDER / "runs" / "worst-case").glob("*.html")
    return sorted([*FOLDER.glob("*.html"), pages])


def build_scene() -> Path:
    """Builds an image with a planted fault."""
    folder = FOLDER / "scene"
    options = ("-DBENCH=scene-lost_ticks", "-DKERNEL=freertos", "-DBOARD=nucleo-f446re")
    steps = (("cmake", "-S", "firmware", "-B", str(folder), "-G", "Ninja", *options), ("cmake", "--build", str(folder)))
    for step in steps:
        subprocess.run(step, capture_output=True, check=True, cwd=find_checkout_root())
    return folder / "image.elf"


def find_faults(browser: Browser, path: Path) -> list[str]:
    """Returns a sentence for each fault of a page."""
    views = [(width, scheme) for width in WIDTHS for scheme in ("light", "dark")]
    problems = [problem for width, scheme in views for problem in _faults_at_width(browser, path, width, scheme)]
    return list(dict.fromkeys([*problems, *_print_faults(browser, path)]))


def _faults_at_width(browser: Browser, path: Path, width: int, scheme: str) -> list[str]:
    problems: list[str] = []
    page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
    page.on("pageerror", lambda error: problems.append(f"a script failed: {error}"))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: _note_foreign_request(problems, request.url))
    page.goto(path.resolve().as_uri())
    violations = [f"{width} px, {scheme}: {violation}" for violation in _page_faults(page)]
    page.close()
    return [*problems, *violations]


def _note_foreign_request(problems: list[str], url: str) -> None:
    if not url.startswith(("file:", "data:")):
        problems.append(f"it asks for {url}")


def _page_faults(page: Page) -> list[str]:
    problems = []
    wider = page.evaluate(_WIDER)
    if wider > 0:
        problems.append(f"it is {wider} px wider than the page")
    page.evaluate("() => { for (const each of document.querySelectorAll('details')) each.open = true; }")
    problems += [_violation_text(violation) for violation in Axe().run(page, options=RULES).response["violations"]]
    if not page.evaluate(_SORTED):
        problems.append("a click on a table's head does not sort it")
    return problems


def _print_faults(browser: Browser, path: Path) -> list[str]:
    page = browser.new_page(java_script_enabled=True)
    page.goto(path.resolve().as_uri())
    page.emulate_media(media="print")
    folded = page.evaluate(_FOLDED)
    page.close()
    return [f"{folded} folded tables stay folded in print"] if folded else []


def _violation_text(violation: dict[str, Any]) -> str:
    places = ", ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
    return f"{violation['id']} ({violation['impact']}): {violation['help']}; at {places}"


def main() -> int:
    """Checks the pages and prints their faults. Returns 0 if there are none."""
    program = shutil.which("chromium")
    if program is None:
        sys.exit("chromium is not installed; `make report-check` installs it.")
    paths = [Path(item) for item in sys.argv[1:]] or make_pages()
    faults = 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for path in paths:
            problems = find_faults(browser, path)
            faults += len(problems)
            print(f"{path.name}: {'no fault' if not problems else f'{len(problems)} faults'}")
            for item in problems:
                print(f"  {item}")
        browser.close()
    print(f"{len(paths)} pages at {', '.join(map(str, WIDTHS))} px, in light and dark, and in print: {faults} faults.")
    return 1 if faults else 0
