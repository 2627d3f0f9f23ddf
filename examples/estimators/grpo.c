/* An estimator for odrpo-bench as a shared library: [estimator.mine] library = "./libgrpo.so".
   cc -O2 -shared -fPIC -I$(dirname $(command -v odrpo-bench))/../include grpo.c -o libgrpo.so -lm */
#include <math.h>
#include <odrpo_estimator.h>

int odrpo_estimator_version(void) { return ODRPO_ESTIMATOR_VERSION; }

int odrpo_estimate(const odrpo_batch* batch, double* advantages) {
  for (int g = 0; g < batch->groups; ++g) {
    const double* score = batch->scores + (long)g * batch->members;
    double* out = advantages + (long)g * batch->members;
    double sum = 0, squares = 0, first = 0;
    int n = 0, different = 0; /* the deviation of equal reals is a rounding error */
    for (int i = 0; i < batch->members; ++i) {
      if (isnan(score[i])) continue;
      if (n++ == 0) first = score[i];
      different |= score[i] != first, sum += score[i];
    }
    const double mean = n > 0 ? sum / n : 0;
    for (int i = 0; i < batch->members; ++i)
      if (!isnan(score[i])) squares += (score[i] - mean) * (score[i] - mean);
    for (int i = 0; i < batch->members; ++i) out[i] = isnan(score[i]) || !different ? 0 : (score[i] - mean) / sqrt(squares / n);
  }
  return 0;
}
