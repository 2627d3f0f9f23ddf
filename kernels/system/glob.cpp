// Matching globs, without recursion.
#include "kernels/system/glob.hpp"

namespace odrpo {

namespace {

// matches one element of the glob at `g` against c; sets `next` to the element behind it
bool match_one(std::string_view glob, std::size_t g, char c, std::size_t& next) {
  next = g + 1;
  if (glob[g] == '?') return true;
  const auto close = glob[g] == '[' ? glob.find(']', g + 2) : std::string_view::npos;
  if (close == std::string_view::npos) return glob[g] == c;
  std::size_t i = g + 1;
  const bool negated = glob[i] == '!';
  if (negated) ++i;
  bool in = false;
  for (; i < close; ++i) {
    if (i + 2 < close && glob[i + 1] == '-') {
      in = in || (glob[i] <= c && c <= glob[i + 2]);
      i += 2;
    } else {
      in = in || glob[i] == c;
    }
  }
  next = close + 1;
  return in != negated;
}

}  // namespace

bool has_open_bracket(std::string_view glob) {
  for (std::size_t g = 0; g < glob.size();) {
    const auto open = glob.find('[', g);
    if (open == std::string_view::npos) return false;
    const auto close = glob.find(']', open + 2);
    if (close == std::string_view::npos) return true;
    g = close + 1;
  }
  return false;
}

bool glob_match(std::string_view glob, std::string_view text) {
  std::size_t g = 0, t = 0, next = 0;
  std::size_t star = std::string_view::npos, star_text = 0;  // the last '*' and where its match ends
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && match_one(glob, g, text[t], next)) {
      g = next;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace odrpo
