# Third-party packages, found once here; which module may use which is a rule (docs/architecture.md) that .ci/architecture checks.
set(ODRPO_DEPS "" CACHE PATH "prefix holding unpacked -dev packages; empty = the system's own")
if(ODRPO_DEPS)
  get_filename_component(ODRPO_DEPS "${ODRPO_DEPS}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  list(PREPEND CMAKE_PREFIX_PATH "${ODRPO_DEPS}/usr")
endif()
find_package(Threads REQUIRED GLOBAL)  # also for the project that this one is inside of
find_path(ODRPO_R123_INC Random123/philox.h REQUIRED)
option(ODRPO_BLAS "matrix products by OpenBLAS instead of our own, which are faster where measured (docs/lab/transformer.md)" OFF)
if(ODRPO_BLAS)
  find_path(ODRPO_BLAS_INC cblas.h PATH_SUFFIXES openblas-pthread openblas REQUIRED)
  find_library(ODRPO_LIB_blas openblas REQUIRED)
endif()
find_path(ODRPO_BOOST_INC boost/math/distributions/students_t.hpp)  # the numerics build without it, less the agreement statistics
find_package(nlohmann_json CONFIG REQUIRED)  # headers alone: no installed library depends on it
if(ODRPO_NUMERICS_ONLY)
  return()
endif()

# HDF5 by hand: CMake's module wants language C and drags libcurl in
add_library(odrpo_hdf5 INTERFACE)
find_path(ODRPO_HDF5_INC hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
target_include_directories(odrpo_hdf5 SYSTEM INTERFACE ${ODRPO_HDF5_INC})
if(ODRPO_DEPS)
  set(_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  foreach(_l hdf5_serial sz aec z)
    find_library(ODRPO_LIB_${_l} NAMES ${_l} REQUIRED)
    target_link_libraries(odrpo_hdf5 INTERFACE ${ODRPO_LIB_${_l}})
  endforeach()
  set(CMAKE_FIND_LIBRARY_SUFFIXES ${_suffixes})
  target_link_libraries(odrpo_hdf5 INTERFACE ${CMAKE_DL_LIBS} m Threads::Threads)
else()
  find_library(ODRPO_LIB_hdf5 NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial REQUIRED)
  target_link_libraries(odrpo_hdf5 INTERFACE ${ODRPO_LIB_hdf5})
endif()

find_package(tomlplusplus CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(LibArchive REQUIRED)  # packed files of scores
find_path(ODRPO_RE2_INC re2/re2.h REQUIRED)  # patterns of judges' answers
find_library(ODRPO_LIB_re2 re2 REQUIRED)
if(NOT ODRPO_BOOST_INC)
  message(FATAL_ERROR "Boost.Math was not found (Debian: libboost-dev); -DODRPO_NUMERICS_ONLY=ON builds without it")
endif()

option(ODRPO_MPI "run suites by many ranks of MPI" OFF)
set(ODRPO_HAVE_MPI OFF)
if(ODRPO_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)  # the C functions are enough
  find_package(MPI REQUIRED COMPONENTS CXX)
  set(ODRPO_HAVE_MPI ON)
endif()
find_package(benchmark CONFIG QUIET)
find_package(Catch2 CONFIG QUIET)
