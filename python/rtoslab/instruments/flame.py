"""Draws a flame graph as inline SVG without a script. The browser shows a frame's figures under the pointer.

Callers are above the functions that they called. A frame's width is its cycles with those of all it called."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Final

from rtoslab.instruments.formats import cycles_by_call_path
from rtoslab.instruments.names import INLINED
from rtoslab.instruments.profiler import Profile

WIDTH: Final = 1160
ROW: Final = 18
LETTER: Final = 6.3
"""Mean width of a letter of the labels."""
NARROWEST: Final = 0.4
"""Frames narrower than this are left out. Their cycles stay in their callers' width."""
_COLOURS: Final = {
    "application": "#9fd3b5", "library": "#d8d8d8", "idle": "#efefef", "image": "#9fd3b5", "switch": "#f2b48a",
    "tick": "#f6d17f", "critical": "#e79a9a", "queue": "#a9c6ea", "memory": "#d7b9e6", "core_to_core": "#f0a7c8",
}  # fmt: skip
_OTHER_KERNEL: Final = "#bcd0f0"
_WAIT: Final = "#ffffff"
_ROOT: Final = "#e4e9ee"


@dataclass(slots=True)
class FlameGraphFrame:
    """A function on one call path of a flame graph, with its cycles and callees."""

    name: str
    cycles: int = 0
    children: dict[str, "FlameGraphFrame"] = field(default_factory=dict)


def build_flame_tree(stacks: Mapping[tuple[str, ...], int], name: str) -> FlameGraphFrame:
    """Returns call paths with their cycles as a tree of frames under a root called `name`."""
    root = FlameGraphFrame(name)
    for stack, cycles in stacks.items():
        here = root
        here.cycles += cycles
        for frame in stack:
            here = here.children.setdefault(frame, FlameGraphFrame(frame))
            here.cycles += cycles
    return root


def flame_svg(profile: Profile, core: int) -> str:
    """Returns the flame graph of one core as SVG."""
    root = build_flame_tree(cycles_by_call_path(profile, core), f"core {core}")
    parts: list[str] = []
    _draw_flame_frame(parts, root, profile, 0.0, 0, WIDTH / max(1, root.cycles), (root.cycles, _ROOT))
    height = ROW * _visible_row_count(root, WIDTH / max(1, root.cycles)) + 2
    label = escape(f"Flame graph of core {core}: {profile.label}")
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {height}" xmlns="http://www.w3.org/2000/svg" '
        f'font-family="Arial, Liberation Sans, sans-serif" font-size="11">{"".join(parts)}</svg>'
    )


def _visible_row_count(frame: FlameGraphFrame, scale: float) -> int:
    """Returns the number of visible rows of a flame graph from a frame on. `scale` is in pixels per cycle."""
    shown = [child for child in frame.children.values() if child.cycles * scale >= NARROWEST]
    return 1 + max((_visible_row_count(row, scale) for row in shown), default=0)


def _draw_flame_frame(
    parts: list[str], frame: FlameGraphFrame, profile: Profile, x: float, row: int, scale: float, above: tuple[int, str]
) -> None:
    """Appends the SVG of a frame and of the frames that it calls to `parts`. `above` has the core's cycles and the
    caller's colour."""
    width = frame.cycles * scale
    if width < NARROWEST:
        return
    whole, caller = above
    colour = caller if frame.name.endswith(INLINED) else _flame_graph_frame_colour(frame.name, profile)
    edge = "#888" if colour == _WAIT else "#fff"
    title = escape(f"{frame.name}: {frame.cycles:,} cycles, {100 * frame.cycles / max(1, whole):.2f} %")
    y = row * ROW + 1
    parts.append(
        f'<g><title>{title}</title><rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 1}" rx="1.5" '
        f'fill="{colour}" stroke="{edge}" stroke-width=".6"/>{_frame_label_svg(frame.name, x, y, width)}</g>'
    )
    for child in sorted(frame.children.values(), key=lambda frame: (-frame.cycles, frame.name)):
        _draw_flame_frame(parts, child, profile, x, row + 1, scale, (whole, colour))
        x += child.cycles * scale


def _frame_label_svg(name: str, x: float, y: int, width: float) -> str:
    """Returns the SVG of a frame's label, cut to its width. Empty if there is no room."""
    room = int((width - 5) / LETTER)
    if room < 3:
        return ""
    shown = name if len(name) <= room else name[: room - 1] + "…"
    return f'<text x="{x + 3:.2f}" y="{y + 12.5}">{escape(shown)}</text>'


def function_class_colours(profile: Profile) -> tuple[tuple[str, str], ...]:
    """Returns the classes of functions that occur in a profile, each with its colour in the flame graph."""
    return tuple((kind, _COLOURS.get(kind, _OTHER_KERNEL)) for kind in sorted(set(profile.classes.values())))


def _flame_graph_frame_colour(name: str, profile: Profile) -> str:
    """Returns the colour of a frame: that of its function's class, or of a wait."""
    if name.startswith("("):
        return _COLOURS["idle"] if name == "(sleep)" else _WAIT
    kind = profile.classes.get(name.partition(" [")[0])
    if kind is None:
        return _ROOT if name.startswith("core ") else _COLOURS["image"]
    return _COLOURS.get(kind, _OTHER_KERNEL)
