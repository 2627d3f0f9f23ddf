// Advantages of one group of eight scores, under grpo and under odrpo with the weight gini-median.
#include <cstdio>

#include "estimators/definition.hpp"

int main() {
  const double scores[] = {3, 5, 5, 6, 7, 7, 9, 10};
  for (const char* word : {"grpo", "odrpo-gini-median(grpo)"}) {
    double advantage[8];
    odrpo::advantages(odrpo::estimator_named(word), 10, scores, odrpo::no_median, advantage);
    std::printf("%s:", word);
    for (double a : advantage) std::printf(" %.3f", a);
    std::printf("\n");
  }
}
