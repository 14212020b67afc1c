"""Firmware built for a point, and what an ELF file holds."""

from rtoslab.images.builder import (
    CALLGRAPH,
    CONFORMANCE_IMAGE,
    IMAGE,
    LOG,
    MAP,
    Build,
    build,
    cmake_options,
    demand_tools,
    inputs_digest,
    is_built,
)
from rtoslab.images.elf import Image, Section, Symbol, berkeley, read_elf, read_sections

__all__ = [
    "CALLGRAPH",
    "CONFORMANCE_IMAGE",
    "IMAGE",
    "LOG",
    "MAP",
    "Build",
    "Image",
    "Section",
    "Symbol",
    "berkeley",
    "build",
    "cmake_options",
    "demand_tools",
    "inputs_digest",
    "is_built",
    "read_elf",
    "read_sections",
]
