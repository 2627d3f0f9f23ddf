// Chooses an estimator's colour, dash and symbol, equal in all figures, and a figure's format by the ending of its file name; parses --figure KIND=FILE.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/flags/flag_values.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "results/figure/figure.hpp"

namespace odrpo::app {

/// Colour, dash and symbol of each name; no two are alike. The colour of an ODRPO estimator shows its weight, and the dash its norm. Names
/// that are no estimators get the colours in order.
std::vector<SeriesStyle> series_styles(const std::vector<std::string>& names);

/// The format of a path that ends in .svg, .pdf or .png. Failure `usage` for any other ending; the message names `flag`.
FigureFormat figure_format(std::string_view flag, const std::string& path);

/// One figure that a flag --figure KIND=FILE asks for.
template <class Kind>
struct FigureRequest {
  Kind kind;
  std::string path;
  FigureFormat format;
};

/// Parses the flags --figure, such as "kendall=FILE.svg". Failure `usage` for an unknown kind or ending, or one file for two figures; `io` for a file
/// that cannot be written. `inputs`: files that no figure may replace.
template <class Kind, std::size_t n>
std::vector<FigureRequest<Kind>> figure_requests(const Word<Kind> (&kinds)[n], const std::vector<std::string>& words, const std::vector<std::string>& inputs) {
  std::vector<FigureRequest<Kind>> requests;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), path = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto kind = find_word<Kind>(kinds, name);
    if (!kind) refuse_word(fmt::format("--figure: there is no figure \"{}\"", printable_line(name)), name, words_in(kinds));
    if (path.empty()) fail(Exit::usage, "--figure {0}: a file must follow, as {0}=FILE.svg", name);
    for (const auto& other : requests)
      if (other.path == path) fail(Exit::usage, "--figure: two figures would go to \"{}\"", path);
    requests.push_back({*kind, path, figure_format("--figure " + name, path)});
    for (const std::string& input : inputs) check_output(path, input);
  }
  return requests;
}

}  // namespace odrpo::app
