// Declares what a shared library defines that is an estimator of odrpo-bench: [estimator.mine] library = "./libmine.so" (docs/own-estimator.md). C99 and C++.
// Build: cc -O2 -shared -fPIC mine.c -o libmine.so
#pragma once
#ifdef __cplusplus
extern "C" {
#endif

enum { ODRPO_ESTIMATOR_VERSION = 1 };  // of this header

/* Groups of scores, one group a prompt. Everything belongs to the caller, and only for the call. */
typedef struct odrpo_batch {
  int groups, members;     /* prompts of the batch; responses to each */
  int levels;              /* scores are 1..levels, 0 for an answer that failed */
  int step;                /* of the run, from 0 */
  const double* scores;    /* [groups][members], NaN = missing */
  const unsigned* prompts; /* [groups] numbers of the prompts */
  const int* lengths;      /* [groups][members] tokens of each response; NULL = the world has none */
  const char* run;         /* id of the run: a library with state = "run" forgets when it changes */
} odrpo_batch;

/* Both are defined by the library. */

/* Returns ODRPO_ESTIMATOR_VERSION. */
int odrpo_estimator_version(void);

/* Sets advantages[groups][members], in double; of a missing score anything but an infinity, with kind = "final" NaN leaves a response out. Returns 0, or another number for a batch that it
   cannot estimate. Called from one thread. It prints nothing, allocates nothing that outlives the call, and leaves the floating-point modes as they are. */
int odrpo_estimate(const odrpo_batch* batch, double* advantages);

#ifdef __cplusplus
}
#endif
