# What `cpack` makes: Debian packages odrpo-bench and libodrpo-dev, and a tarball of the program (docs/install.md; preset portable).
set(CPACK_PACKAGE_NAME odrpo-bench)
set(CPACK_PACKAGE_VENDOR "The odrpo-bench authors")
set(CPACK_PACKAGE_CONTACT "The odrpo-bench authors <odrpo-bench@example.org>" CACHE STRING "maintainer of the packages, a name and an address")
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_OUTPUT_FILE_PREFIX packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program library)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/OdrpoPackage.cmake)  # what each of them has
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/OdrpoPackageDocs.cmake)
set(CPACK_ODRPO_SOURCE ${PROJECT_SOURCE_DIR})

# a folder of the same name is in the tarball
string(TOLOWER ${CMAKE_SYSTEM_NAME} _system)
set(CPACK_ARCHIVE_FILE_NAME odrpo-bench-${PROJECT_VERSION}-${_system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME odrpo-bench)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "gnuplot-nox, libarchive13")  # figures; packed files of scores
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "python3, valgrind")            # workers of examples; instructions that the gate counts
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "simulation benchmarks for noisy ordinal reinforcement learning
A noisy judge scores answers. This program says, by simulations in which
the truth is known, which advantage estimator should train on the scores,
how many votes per answer are worth buying, and whether a change made
training slower or worse.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libodrpo-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "odrpo-bench, cmake, g++ (>= 4:12)")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "advantage estimators, raters and worlds of odrpo-bench as a library
Headers, static libraries and a CMake package of the numerics of
odrpo-bench: find_package(odrpo) makes the target odrpo::core.")
include(CPack)
