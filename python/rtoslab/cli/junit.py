"""One run of an image as a JUnit file, which CI systems show as a test."""

from pathlib import Path
from xml.etree import ElementTree as Xml

from rtoslab.base import write_file_atomically
from rtoslab.targets import SimulationResult


def write_junit(path: Path, image: Path, board: str, result: SimulationResult, why: str) -> None:
    """Writes a JUnit file with one test: the run of an image. `why`: the reason of its failure, or empty.
    Raises StoreError.
    """
    seconds = f"{result.cycle / result.clock_hz:.6f}"
    counts = {"tests": "1", "failures": str(int(bool(why))), "errors": "0"}
    suite = Xml.Element("testsuite", {"name": f"rtoslab sim {board}", **counts, "time": seconds})
    case = Xml.SubElement(suite, "testcase", {"classname": board, "name": image.stem, "time": seconds})
    if why:
        Xml.SubElement(
            case, "failure", {"message": _without_xml_forbidden_characters(why.splitlines()[0])}
        ).text = _without_xml_forbidden_characters(why)
    log = "".join(f"{line}\n" for line in result.logs).encode()
    output = [("uart", result.uart), *result.rtt.items(), ("defmt", log), *result.debug.items()]
    Xml.SubElement(case, "system-out").text = "".join(
        f"--- {channel}\n{_without_xml_forbidden_characters(text.decode('utf-8', errors='replace'))}\n"
        for channel, text in output
        if text
    )
    Xml.indent(suite)
    write_file_atomically(path, Xml.tostring(suite, encoding="utf-8", xml_declaration=True), "the JUnit file")


def _without_xml_forbidden_characters(text: str) -> str:
    """Returns the text with a replacement for each character that XML 1.0 forbids."""
    return "".join(
        character if character in "\t\n\r" or character >= " " else "\N{REPLACEMENT CHARACTER}" for character in text
    )
