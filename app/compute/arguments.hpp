// Reads the arguments of a compute request strictly: each of its type, in its range, finite.
#pragma once
#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimators/estimator.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo::app {

/// Why a request is refused: a stable code word and a sentence (docs/compute.md lists the codes).
struct Refusal {
  std::string code, message;
};

/// An argument of a function: its name, and in one line what it is and what it may be.
struct Argument {
  std::string_view name, help;
  bool optional = false;
  std::string_view beside = {};  ///< may be left out if this other argument is given
};

inline constexpr double any_number = 1e100;  ///< numbers without a range of their own stay below it, so that squares stay finite

/// Typed access to the object "args". Every reader throws Refusal for an invalid value.
class Arguments {
 public:
  /// `known` lists the arguments of the function. Throws Refusal if one that is not optional is missing, or if `args` has any other.
  Arguments(const nlohmann::json& args, std::span<const Argument> known);

  bool given(const char* name) const;
  bool is_null(const char* name) const;
  double number(const char* name, double low = -any_number, double high = any_number) const;
  std::optional<double> number_or_null(const char* name, double low = -any_number, double high = any_number) const;
  int integer(const char* name, int low, int high) const;
  std::vector<double> numbers(const char* name, double low = -any_number, double high = any_number) const;
  std::vector<double> integers(const char* name, double low, double high) const;
  /// Reads a list of numbers (with `whole`: of integers). A null in the list becomes NaN.
  std::vector<double> numbers_or_null(const char* name, double low, double high, bool whole) const;
  /// Reads a list of lists of numbers. With `matrix`, these lists must have equal lengths, and at least one row and one column. With `nulls`, a null becomes NaN.
  std::vector<std::vector<double>> rows(const char* name, bool matrix, bool nulls = false) const;
  /// Reads a list of lists of lists of numbers.
  std::vector<std::vector<std::vector<double>>> blocks(const char* name) const;
  std::string text(const char* name) const;
  /// Reads a formula: its text, or a list of numbers.
  std::string formula(const char* name) const;

  /// Reads an argument whose value must be one of the words of `table`.
  template <class E>
  E word(const char* name, std::span<const Word<E>> table) const {
    if (const auto value = find_word(table, text(name))) return *value;
    throw Refusal{"out_of_range", std::string(name) + ": is one of " + joined(table, &Word<E>::word)};
  }

 private:
  const nlohmann::json& args_;
};

// The conventions of an estimator in a request: eps, ddof, k, origin and compat.

/// Reads the given conventions into `config`, whose form is set. If the request names a system (`compat`), eps and ddof may be left out.
/// Refuses an eps or ddof that the form reads and that is not the system's, and conventions that the system or the form lacks.
void read_conventions(const Arguments& a, EstimatorConfig& config);

/// Reads the optional values of levels into a config whose form is set. Refuses values that it cannot have, and rewards that are no scores.
void read_level_values(const Arguments& a, std::span<const double> rewards, EstimatorConfig& config);

/// Reads the formulas `weight` and `norm`, in which numbers stand for names. Returns the number of levels: the argument K, the number of values, the length of a
/// list, or 1 where no formula needs it. Refuses texts that are no formulas, and estimators that read none.
int read_formulas(const Arguments& a, EstimatorConfig& config);

/// Numbers that differ by less than this share of the largest absolute value get the same rank: the difference is rounding alone.
inline constexpr double rounding_of_ranks = 1e-9;
/// Makes numbers equal that get the same rank by rounding_of_ranks.
void join_rounded(std::span<double> numbers);

}  // namespace odrpo::app
