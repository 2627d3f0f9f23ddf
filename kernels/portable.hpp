// Defines three macros: for functions of host and device, for unrolled loops, and for the instruction set of a stage file.
#pragma once

// ODRPO_HD marks a function that CPU and GPU can call. `static inline` gives it internal linkage, so that the copies of a file compiled for
// different instruction sets never share one out-of-line function.
#if defined(__CUDACC__)
#define ODRPO_HD static inline __host__ __device__
#else
#define ODRPO_HD static inline
#endif

// ODRPO_UNROLL stands before a loop with a small constant trip count, and unrolls it.
#if defined(__CUDA_ARCH__)
#define ODRPO_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__) || defined(__clang__)
#define ODRPO_UNROLL
#else
#define ODRPO_UNROLL _Pragma("GCC unroll 16")
#endif

// ODRPO_ISA is the namespace of a stage file. The build sets it (cmake/OdrpoModule.cmake) to `portable`, `avx2`, or, for those
// that gain from it, `avx512`.
#ifndef ODRPO_ISA
#define ODRPO_ISA portable
#endif
