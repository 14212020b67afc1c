"""The parts of every page: one style, one small script, and the policy that allows no other."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class WebPage:
    """The style, script and security policy of an HTML page. They are our own, so they need no escaping."""

    css: str
    script: str
    policy: str
    """Content of the page's Content-Security-Policy: it fetches nothing and runs nothing but `script`."""


@cache
def html_page_style_and_script(script: str = "") -> WebPage:
    """Returns the style, script and security policy of an HTML page.
    `script` replaces the usual one, which sorts tables.
    """
    folder = files("rtoslab.base") / "web"
    css = (folder / "page.css").read_text(encoding="utf-8")
    script = script or (folder / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return WebPage(css, script, f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'")


def render_template(package: str, path: str, **values: object) -> str:
    """Returns an HTML page made from a package's template file. All values are escaped, except `Markup`."""
    import jinja2  # noqa: PLC0415 (only pages need it, and every command would wait for it)

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = (files(package) / path).read_text(encoding="utf-8")
    return environment.from_string(source).render(**values)
