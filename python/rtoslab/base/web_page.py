"""The parts of every page: one style, one small script, and the policy that allows no other."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class WebPage:
    """The parts that are in a page's head and at its end. Ours, so that they need no escaping."""

    css: str
    script: str
    policy: str
    """Content of the page's Content-Security-Policy: it fetches nothing and runs nothing but `script`."""


@cache
def web_page(script: str = "") -> WebPage:
    """The parts of today's page. `script` is one of the page's own, in the place of the one that sorts tables."""
    folder = files("rtoslab.base") / "web"
    css = (folder / "page.css").read_text(encoding="utf-8")
    script = script or (folder / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return WebPage(css, script, f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'")
