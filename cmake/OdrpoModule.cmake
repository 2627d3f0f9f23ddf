# How a module is built: odrpo_module() makes its library, odrpo_stage() compiles a stage file once per instruction set.

# not of code whose time is seen, which would take up to 2 % more or fewer instructions than the gate has stored
option(ODRPO_JOINED "compile tests, and modules whose time nobody sees, eight sources at a time; CMAKE_UNITY_BUILD: all modules" OFF)
if(CMAKE_UNITY_BUILD)
  set(ODRPO_JOINED ON)
endif()
option(ODRPO_WERROR "treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
add_library(odrpo_flags INTERFACE)
# -ffp-contract=off and no fast-math: the same bits from every compiler and SIMD width. Functions begin at cache lines: else a change of one moves
# the loops of all that follow it, which become up to 20 % faster or slower (docs/gate.md). A device flushes subnormal floats, as kernels/subnormals.hpp
# does on a processor.
target_compile_options(odrpo_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-psabi;-ffp-contract=off;-fno-math-errno>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-falign-functions=64>
  $<$<AND:$<BOOL:${ODRPO_JOINED}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-subobject-linkage>  # a joined source looks like a header to g++
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ODRPO_WERROR}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>  # false alarms of g++ 12 at -O3
  # g++ 13 and later see no store into an array whose used part has a run-time length; g++ 12 and clang go on checking
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-maybe-uninitialized>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror,-ffp-contract=off;--Werror=all-warnings;--expt-relaxed-constexpr;--ftz=true>
  # a target whose property ODRPO_FMAD is set is fast first and owes nobody its last bits: the transformer on a device
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:$<BOOL:$<TARGET_PROPERTY:ODRPO_FMAD>>>>:--fmad=false>)
target_include_directories(odrpo_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(odrpo_flags INTERFACE Threads::Threads)

# Everything may go into a shared library (python/): position-independent, and without symbols that others could replace, which would keep the compiler
# from inlining. Not by CMake's property, which knows another option for programs, whose precompiled headers would no longer fit.
set(odrpo_linkable -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)

# odrpo_precompiled(TARGET [O1] [FUZZED]): compiles TARGET's sources with the standard library precompiled, one header for all targets of the same
# options. O1: code whose time nobody sees, -O1 in Release and -O0 under sanitizers (RelWithDebInfo); other code has ODRPO_NUMERIC_OPTIONS. FUZZED:
# fuzz targets read files and text with it, so they are told which way it went; under sanitizers other code does without the checks of each pointer
# that address sanitizer makes too, which cost a third of its build. ODRPO_PCH=OFF finds missing includes.
option(ODRPO_PCH "precompile the headers of the standard library" ${PROJECT_IS_TOP_LEVEL})
set(ODRPO_NUMERIC_OPTIONS "" CACHE STRING "more compiler options for what computes digests (.ci/digest); reading, tables and pages do without")
function(odrpo_precompiled target)
  set(library odrpo_std)
  set(options ${ODRPO_NUMERIC_OPTIONS})
  if("O1" IN_LIST ARGN)
    string(APPEND library _o1)
    set(options $<$<CONFIG:Release>:-O1> $<$<CONFIG:RelWithDebInfo>:-O0>)
  endif()
  if(ODRPO_FUZZ AND "FUZZED" IN_LIST ARGN)
    string(APPEND library _fuzzed)
    list(APPEND options -fsanitize=fuzzer-no-link)
  elseif(ODRPO_FUZZ)
    list(APPEND options -fno-sanitize=null,alignment,pointer-overflow)
  endif()
  list(APPEND options ${odrpo_linkable})
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
  if(NOT ODRPO_PCH)
    return()
  endif()
  if(NOT TARGET ${library})
    set(empty ${PROJECT_BINARY_DIR}/${library}.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "// Carries the precompiled headers of the standard library.\n")
    add_library(${library} OBJECT ${empty})
    target_compile_features(${library} PUBLIC cxx_std_20)
    target_link_libraries(${library} PRIVATE odrpo_flags)
    target_compile_options(${library} PRIVATE ${options})
    target_precompile_headers(${library} PRIVATE <algorithm> <array> <atomic> <charconv> <cmath> <cstddef> <cstdint> <cstring> <functional> <iterator>
      <limits> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <tuple> <type_traits> <utility> <variant> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${library})
endfunction()

# odrpo_sources(VARIABLE FOLDER ...): the sources directly in these folders, without stage files (compiled once per instruction set) and *_none.cpp
# (of builds without some part).
function(odrpo_sources variable)
  set(found)
  foreach(folder IN LISTS ARGN)
    file(GLOB here CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND found ${here})
  endforeach()
  list(FILTER found EXCLUDE REGEX "_(stage|none)[.]cpp$")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# odrpo_module(NAME [O1] [FUZZED] SOURCES a.cpp b.cpp [STAGES c.cpp] LINK odrpo_kernels ...): library odrpo_NAME.
function(odrpo_module name)
  cmake_parse_arguments(R "O1;FUZZED" "" "SOURCES;STAGES;LINK" ${ARGN})
  add_library(odrpo_${name} STATIC ${R_SOURCES})
  add_library(odrpo::${name} ALIAS odrpo_${name})
  set(options ${ARGN})
  list(FILTER options INCLUDE REGEX "^(O1|FUZZED)$")
  odrpo_precompiled(odrpo_${name} ${options})
  if(ODRPO_JOINED AND R_O1)
    set_target_properties(odrpo_${name} PROPERTIES UNITY_BUILD ON)
  endif()
  # our flags stay here; whoever uses the installed library (cmake/OdrpoInstall.cmake), or has this project inside their own, needs C++20
  # and, for the same bits from what is inline, no contraction
  set(contraction $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-ffp-contract=off>)
  target_compile_features(odrpo_${name} PUBLIC cxx_std_20)
  if(PROJECT_IS_TOP_LEVEL)
    target_link_libraries(odrpo_${name} PUBLIC $<BUILD_INTERFACE:odrpo_flags> ${R_LINK})
    target_compile_options(odrpo_${name} INTERFACE $<INSTALL_INTERFACE:${contraction}>)
  else()
    target_link_libraries(odrpo_${name} PRIVATE $<BUILD_INTERFACE:odrpo_flags> PUBLIC ${R_LINK})
    target_include_directories(odrpo_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
    target_compile_options(odrpo_${name} INTERFACE ${contraction})
  endif()
  foreach(stage IN LISTS R_STAGES)
    odrpo_stage(odrpo_${name} ${stage})
  endforeach()
endfunction()

# A stage file is compiled once per instruction set into its own namespace (ODRPO_ISA) with internal linkage inside; the module's
# dispatcher picks one table of functions at run time (kernels/isa.hpp). Elsewhere than on x86 all copies are portable code.
set(odrpo_wide_stages batch_stage random_stage rate_stage softmax_stage)  # those that AVX-512 makes faster
function(odrpo_stage target file)
  get_filename_component(base ${file} NAME_WE)
  set(isas portable avx2)
  if(base IN_LIST odrpo_wide_stages)
    list(APPEND isas avx512)
  endif()
  foreach(isa IN LISTS isas)
    set(lib ${target}_${base}_${isa})
    add_library(${lib} OBJECT ${file})
    target_link_libraries(${lib} PRIVATE odrpo_flags)
    target_include_directories(${lib} SYSTEM PRIVATE ${ODRPO_R123_INC})
    target_compile_definitions(${lib} PRIVATE ODRPO_ISA=${isa})
    target_compile_options(${lib} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O3> ${odrpo_linkable} ${ODRPO_NUMERIC_OPTIONS}
      $<$<BOOL:${ODRPO_FUZZ}>:-fno-sanitize=null,alignment,pointer-overflow>)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
      target_compile_options(${lib} PRIVATE $<$<STREQUAL:${isa},avx2>:-mavx2>
        $<$<STREQUAL:${isa},avx512>:-mavx512f$<SEMICOLON>-mavx512vl$<SEMICOLON>-mavx512bw$<SEMICOLON>-mavx512dq>)
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${lib}>)
  endforeach()
endfunction()
