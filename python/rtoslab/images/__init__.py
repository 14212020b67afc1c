"""Firmware built for a point, and what an ELF file holds."""

from rtoslab.images.builder import Build, build, demand_tools, is_built, planned_image, share_kept
from rtoslab.images.code_digests import branch_target, code_digests
from rtoslab.images.compiler_calls import DEFINITIONS, LIKE_GROUP, OPTIONS, optimisation_levels
from rtoslab.images.elf import Image, Section, Symbol, berkeley, read_elf, read_sections
from rtoslab.images.image_inputs import (
    CALIBRATION_IMAGE,
    CALLGRAPH,
    CONFORMANCE_IMAGE,
    IMAGE,
    LOG,
    MAP,
    cmake_options,
    inputs_digest,
    tree_of,
)
from rtoslab.images.made_by import made_by
from rtoslab.images.settings import demand_settings
from rtoslab.images.source_lines import SourceLines
