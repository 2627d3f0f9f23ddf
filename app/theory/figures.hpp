// The figures of `theory`: mean absolute curl over levels and group sizes, and the leverage of one score.
#pragma once
#include <string>
#include <vector>

namespace odrpo::app {

struct CurlPoint {
  std::string estimator;
  int levels, members;
  double mac, curl;  ///< over all i, j; without and with M - 1
};

/// MAC over K and over M, and the same times M - 1 over M: a line for each estimator. K is the largest in the panels over M; M is 8 in the
/// panel over K, or the largest where 8 is not there. Failure usage where there is one K and one M alone; io.
void draw_curl_figure(const std::vector<CurlPoint>& points, const std::string& path);

struct LeveragePoint {
  std::string estimator, outlier;
  double share, growth;
};

/// Bars of share and growth for each estimator and outlier. Failure io.
void draw_leverage_figure(const std::vector<LeveragePoint>& points, const std::string& caption, const std::string& path);

}  // namespace odrpo::app
