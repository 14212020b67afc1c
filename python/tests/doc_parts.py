"""Parts of pages that are made of files, between two comments: `<!-- NAME: MODULE -->` and `<!-- end of NAME -->`."""

from collections.abc import Iterable


def replace_part(text: str, name: str, module: str, lines: Iterable[str]) -> str:
    """The page with one of its parts written anew. Raises ValueError if it has no such part."""
    begin, end = f"<!-- {name}: {module} -->", f"<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, result, after = rest.partition(end)
    if not result:
        raise ValueError(f"the page lacks the part between {begin} and {end}")
    return "\n".join([before + begin, *lines, end + after])
