# A kernel whose sources are a tree that its user names: TREE is the path of the tree's description, a TOML file kept with
# the user's configuration (`rtoslab tree add` drafts it; python/rtoslab/catalogue/trees.py says what stands in it).
#
#   tree_read()                     from TREE, TREE_PATH and BOARD_CORE: KERNEL_SOURCE_DIR, TREE_SOURCES, TREE_HEADERS,
#                                   TREE_DEFINES, TREE_FLAGS
#   kernel_from_tree(<target>)      a static library of them, for the board's core, that sees the kernel's configuration
#
# Or a kernel that builds itself: the description names exports, by board and number of cores, and what they lack; a port's
# [export] says what of one is linked (TREE_SOURCES) and where its headers lie (TREE_HEADERS).
#
#   tree_lacks()                    switches off the services that the exports were made without, or that need a name
#                                   which the tree's version has not yet ([[earlier]]); TREE_ABSENT: those names

macro(tree_lacks)
  toml_get_or(lacking tree lacks "")
  toml_get_or(TREE_ABSENT tree absent "")
  toml_parts(earlier kernel earlier)
  foreach(number IN LISTS earlier)
    toml_get(name kernel earlier.${number}.name)
    if(name IN_LIST TREE_ABSENT)
      toml_get_or(gone kernel earlier.${number}.lacks "")
      list(APPEND lacking ${gone})
    endif()
  endforeach()
  foreach(service IN LISTS lacking)
    toml_set(kernel services.${service} false)
  endforeach()
  if(DEFINED kernel.tree.one_core)
    toml_set(kernel smp false)
  endif()
endmacro()

macro(tree_read)
  if(DEFINED kernel.export.config)
    set(export_key "exports.${BOARD}-${CORES}")
    if(DEFINED tree.${export_key})
      toml_get(tree_path tree "${export_key}")
    elseif(NOT TREE_PATH) # which names the one for this optimisation
      message(FATAL_ERROR "n/a: kernel ${KERNEL_ID} has no export for ${CORES} core(s) of board ${BOARD}; `rtoslab tree add` names one.")
    endif()
    foreach(kind IN ITEMS headers sources defines flags)
      set(tree.${kind} "")
      set(tree/kind/${kind} list)
    endforeach()
    toml_get(tree.headers kernel export.headers)
    toml_get(tree.sources kernel export.linked)
  else()
    toml_get(tree_path tree path)
  endif()
  if(TREE_PATH)
    set(tree_path "${TREE_PATH}")
  endif()
  if(NOT IS_DIRECTORY "${tree_path}")
    message(FATAL_ERROR "The tree of kernel ${KERNEL_ID} is not where ${TREE} says: ${tree_path}.")
  endif()
  set(KERNEL_SOURCE_DIR "${tree_path}")
  foreach(kind IN ITEMS sources headers defines flags)
    toml_get_or(for_all tree ${kind} "")
    toml_get_or(for_core tree "cores.${BOARD_CORE}.${kind}" "")
    string(TOUPPER "TREE_${kind}" name)
    set(${name} ${for_all} ${for_core})
  endforeach()
  tree_files(TREE_SOURCES ${TREE_SOURCES})
  list(TRANSFORM TREE_HEADERS PREPEND "${tree_path}/")
endmacro()

# The files that patterns relative to the tree stand for; `!` before one leaves out what it stands for.
function(tree_files out)
  set(found "")
  set(left_out "")
  foreach(pattern IN LISTS ARGN)
    string(REGEX REPLACE "^!" "" plain "${pattern}")
    file(GLOB matches CONFIGURE_DEPENDS "${KERNEL_SOURCE_DIR}/${plain}")
    if(NOT matches)
      message(FATAL_ERROR "In the tree of kernel ${KERNEL_ID} there is no file `${plain}`; `rtoslab tree check ${KERNEL_ID}` says more.")
    elseif(plain STREQUAL pattern)
      list(APPEND found ${matches})
    else()
      list(APPEND left_out ${matches})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  if(left_out)
    list(REMOVE_ITEM found ${left_out})
  endif()
  list(SORT found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(kernel_from_tree target)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${TREE_SOURCES})
  target_include_directories(${target} BEFORE PUBLIC ${KERNEL_CONFIG_FOLDERS} "${BENCH_GENERATED_DIR}")
  target_include_directories(${target} SYSTEM PUBLIC ${TREE_HEADERS})
  target_compile_definitions(${target} PUBLIC ${TREE_DEFINES})
  # Assembler goes through the preprocessor whatever its file is called: macros hold in it, and the compiler says it was read.
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:ASM>:SHELL:-x assembler-with-cpp>")
  # Warnings of a tree are its maker's matter.
  target_compile_options(${target} PRIVATE ${BENCH_TARGET_FLAGS} -w "-ffile-prefix-map=${KERNEL_SOURCE_DIR}=kernel")
  target_compile_options(${target} PUBLIC ${TREE_FLAGS})
endfunction()
