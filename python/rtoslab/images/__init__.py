"""Builds the firmware of a point, and reads ELF files."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.images.builder import (
        BuiltImage,
        build_error_without_log_path,
        build_measurement_point_image,
        compile_image_into,
        is_image_built,
        link_build_caches_into_checkout,
        planned_image_path,
        require_build_programs,
    )
    from rtoslab.images.compiler_calls import DEFINITIONS, LIKE_GROUP, OPTIONS, optimisation_levels
    from rtoslab.images.elf import (
        ElfImage,
        ElfOutputSection,
        ImageSymbol,
        berkeley_sizes,
        do_images_differ,
        read_elf,
        read_elf_sections,
    )
    from rtoslab.images.function_digests import (
        branch_target_address,
        data_object_digests,
        function_code_digests,
    )
    from rtoslab.images.image_inputs import (
        CALIBRATION_IMAGE,
        CALLGRAPH,
        CONFORMANCE_IMAGE,
        IMAGE,
        LOG,
        MAP,
        cmake_options,
        image_inputs_digest,
        optional_services,
        optional_services_param,
        source_tree_of_point,
    )
    from rtoslab.images.producers import compilers_named_in_elf
    from rtoslab.images.settings import require_known_macros
    from rtoslab.images.source_lines import SourceLines
else:
    __getattr__ = lazy_attribute_getter(__name__)
