// Defines formulas of a level, which suites write as `weight` and `norm`: parsed once from text, evaluated in double.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace odrpo {

/// A name that formulas know, and what it means.
struct FormulaWord {
  std::string_view word, help;
};
/// What a formula may read about a level of a group. LevelPoint has the values in this order.
enum class LevelVariable { level, share, median, group, levels };
inline constexpr FormulaWord formula_variables[] = {{"k", "the level"},
                                                    {"mu", "mu_k, the share of the group whose score is at least k"},
                                                    {"med", "the group's median, by the key `median`"},
                                                    {"G", "size of the group: its scores that are not missing"},
                                                    {"K", "number of levels"}};
using LevelPoint = std::array<double, std::size(formula_variables)>;

enum class FormulaFunction { sqrt, exp, log, abs, min, max };
inline constexpr FormulaWord formula_functions[] = {{"sqrt", "square root"},     {"exp", "e^x"},
                                                    {"log", "natural logarithm"}, {"abs", "absolute value"},
                                                    {"min", "the least of two numbers or more"}, {"max", "the largest of two numbers or more"}};
inline constexpr FormulaWord formula_operators[] = {
    {"+ - * /", "as usual; a product needs its *"},
    {"^", "power, before a sign and from the right: -2^2 = -4, 2^3^2 = 2^9; x^n with a whole n up to 1024 by products, x^0.5 = sqrt(x), any other exp(y log x)"},
    {"[...]", "in place of a formula: K numbers, one for each level 1..K"}};
/// Limits of a formula: its length in characters that are no blanks, and how deep parentheses, signs and powers nest.
inline constexpr std::size_t most_formula_characters = 1000, most_formula_depth = 50;

/// A number that formulas read by name. NaN until it is set.
struct NamedNumber {
  std::string name;
  double value;
  bool operator==(const NamedNumber&) const = default;
};

/// Why a text is no formula, and its character (from 0) that is wrong. `allowed` and `suggestion` may be empty.
struct FormulaError {
  std::size_t at;
  std::string message, allowed = {}, suggestion = {};
};

/// A formula, or a list of numbers of the levels 1..K. Copies share the parsed text. An empty formula stands for what the base has.
class Formula {
 public:
  Formula() = default;
  /// Parses a text. Adds each name that is no variable to `numbers`, unless it is there, with the value NaN.
  static std::variant<Formula, FormulaError> parse(std::string_view text, std::vector<NamedNumber>& numbers);
  bool empty() const { return program_ == nullptr; }
  /// The canonical text: equal for formulas that differ in blanks or in how they write numbers. parse() of it gives an equal formula.
  const std::string& text() const;
  /// The numbers of a list; empty for a formula.
  std::span<const double> list() const;
  bool reads(LevelVariable variable) const;
  /// A name of `numbers` that the formula reads, and where it reads it first.
  struct Name {
    std::size_t number, at;
  };
  std::span<const Name> names() const;
  /// The value at a level. `numbers` are those of parse(), with their values. May be infinite or NaN, as for a level above a list.
  double at(const LevelPoint& point, std::span<const NamedNumber> numbers) const;
  bool operator==(const Formula& other) const { return text() == other.text(); }

 private:
  struct Program;
  friend class FormulaParser;
  std::shared_ptr<const Program> program_;
};

/// x^y: by products for a whole y up to 1024, by the square root for y = 1/2, else e^(y ln x).
double formula_power(double x, double y);

/// A number in the fewest digits that read back as the same number.
std::string shortest(double x);

}  // namespace odrpo
