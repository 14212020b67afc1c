"""The part of kernel.toml for kernels that users name: how a tree's parts are recognised, the contents an export must
have."""

from rtoslab.base import StrictFileSchemaModel


class KernelTreeRequirements(StrictFileSchemaModel):
    """The table `tree` of kernel.toml: how `rtoslab kernel tree add` recognises the parts of the kernel's source tree.

    Nothing here is a list of the kernel's files: header names are those that our own port and configuration include.
    """

    headers: tuple[str, ...]
    """Headers that the port or the kernel's own files include, as they write it (`tiny.h`, `os/tiny.h`): the folder
    from which each is found is a folder of headers."""
    cores: dict[str, tuple[str, ...]]
    """Keyed by a board's core: words that the path of a folder with code for that core has, the most telling first."""
    chips: tuple[str, ...] = ()
    """The chips that the port is for, as `chip` of board.toml. None: every chip with such a core."""
    avoid: tuple[str, ...] = ()
    """Words in a path that say it is something else: variants, tests, examples."""
    skip: tuple[str, ...] = ()
    """Words in a file's name that say it is no part of a kernel without options."""
    also: tuple[str, ...] = ()
    """Functions, beside those of `[symbols]`, whose sources are needed: without one it is no tree of the kernel."""
    version_text: str = ""
    """The text before the version in a header that the port includes. `version` counts if it is not there."""
    version: tuple[str, ...] = ()
    """Macros that say which version it is, in the order they are joined by dots."""
    version_digits: tuple[int, ...] = ()
    """For a version in one number: how many decimal digits each part after the first has (30802, 2
    and 2: 3.08.02)."""

    one_core: str = ""
    """Why a tree is built for one core alone, though the port knows more."""


class KernelExportRequirements(StrictFileSchemaModel):
    """The table `export` of kernel.toml: what an export from the kernel's own build system must contain.

    `config/common.defconfig` is for every export, `<board>.defconfig` for one board, `<need>.defconfig` for one need.
    The files of `config/application`, if the kernel is built with an application, are handed over with them.
    """

    asked_in: str = "defconfig"
    """The name of the file with the requested options in the kernel's build."""
    asked_elsewhere: tuple[str, ...] = ()
    """Options that are asked for, but not to be set in that file: something else decides them."""
    config: str
    """The file of an export that holds the whole configuration it was made with."""
    board: str
    """The option that tells its board, by the kernel's own name of it."""
    cores: str
    """The option that tells on how many cores it runs. None: one."""
    optimisation: str
    """The option that holds the compiler's: part of what an export is for, and no fixed one is asked for."""
    headers: tuple[str, ...]
    """Its folders of headers."""
    linked: tuple[str, ...]
    """Patterns of the other files that an image consists of."""
    version_header: str
    version: str
    """The macro there that tells the version."""
    made_of: str = ""
    """A file of an export that lists, by absolute path, the files its build read: one changed since makes it stale."""
    lacks: dict[str, tuple[str, ...]]
    """Keyed by need: the services that an export lacks that was made without. Of a need's file the first option tells.
    """
