# Optional services: gives an image the port's headers for them and the kernel configuration that they need. No other image
# contains anything of them.
#
# Taken in by the build of the firmware, of which it changes no file:
#   cmake -S firmware … -DBENCH=timer_latency -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake
#         -DOPTIONAL_SERVICES:STRING=timer
#
#   OPTIONAL_SERVICES   the services that the benchmark needs
#
# A port's folder services/<service>/ has port_<service>.h. A header there with the name of one of the kernel's configuration
# headers comes before that one, and takes it in by #include_next. service.cmake, if it is there, does the rest for the target `image`.
set(OPTIONAL_SERVICES "" CACHE STRING "optional services that the benchmark needs")
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL add_optional_services)

function(add_optional_services)
  foreach(service IN LISTS OPTIONAL_SERVICES)
    set(folder "${KERNEL_DIR}/services/${service}")
    if(NOT EXISTS "${folder}/port_${service}.h")
      message(FATAL_ERROR "n/a: kernel ${KERNEL_ID} lacks the optional service `${service}`: there is no ${folder}/port_${service}.h.")
    endif()
    foreach(target IN ITEMS image ${KERNEL_TARGETS})
      target_include_directories(${target} BEFORE PRIVATE "${folder}")
    endforeach()
    include("${folder}/service.cmake" OPTIONAL)
  endforeach()
endfunction()
