// The three macros: code for host and device, unrolled loops, and the instruction set of a stage file.
#pragma once

// ODRPO_HD: a function for every processor. `static inline` = internal linkage, so that a file compiled once per instruction
// set never shares an out-of-line copy with another.
#if defined(__CUDACC__)
#define ODRPO_HD static inline __host__ __device__
#else
#define ODRPO_HD static inline
#endif

// ODRPO_UNROLL: before a loop with a small constant trip count.
#if defined(__CUDA_ARCH__)
#define ODRPO_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__) || defined(__clang__)
#define ODRPO_UNROLL
#else
#define ODRPO_UNROLL _Pragma("GCC unroll 16")
#endif

// ODRPO_ISA: the namespace of a stage file: `portable` or `avx2`, set by the build (cmake/OdrpoModule.cmake).
#ifndef ODRPO_ISA
#define ODRPO_ISA portable
#endif
