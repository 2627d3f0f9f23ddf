# Language CUDA when nvcc is there and ODRPO_CUDA allows it; sets ODRPO_HAVE_CUDA. Nothing needs it.
set(ODRPO_CUDA "AUTO" CACHE STRING "CUDA back end: AUTO, ON or OFF")
set(ODRPO_HAVE_CUDA OFF)
if(NOT ODRPO_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)  # before enable_language, or nvcc's default (75) is recorded
    set(CMAKE_CUDA_ARCHITECTURES 90)        # sm_90 code + compute_90 PTX
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    foreach(_k STANDARD EXTENSION)          # CMake 3.25 does not know nvcc's C++20 flag
      if(NOT CMAKE_CUDA20_${_k}_COMPILE_OPTION)
        set(CMAKE_CUDA20_${_k}_COMPILE_OPTION "-std=c++20")
      endif()
    endforeach()
    set(CMAKE_CUDA_STANDARD 20)             # only after enable_language
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    set(ODRPO_HAVE_CUDA ON)
  elseif(ODRPO_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ODRPO_CUDA=ON but no nvcc was found")
  endif()
endif()
message(STATUS "CUDA: ${ODRPO_HAVE_CUDA}")
