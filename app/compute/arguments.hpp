// The arguments of one compute request, read strictly: each of its type, in its range, finite.
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
  std::string_view beside = {};  ///< optional beside this other argument
};

inline constexpr double any_number = 1e100;  ///< numbers without a range of their own stay below it, so that squares stay finite

/// Typed access to the object "args". Every reader throws Refusal for a value it cannot take.
class Arguments {
 public:
  /// `known` are the function's arguments: all must be there but those that are optional there, and no other.
  Arguments(const nlohmann::json& args, std::span<const Argument> known);

  bool given(const char* name) const;
  bool is_null(const char* name) const;
  double number(const char* name, double low = -any_number, double high = any_number) const;
  std::optional<double> number_or_null(const char* name, double low = -any_number, double high = any_number) const;
  int integer(const char* name, int low, int high) const;
  std::vector<double> numbers(const char* name, double low = -any_number, double high = any_number) const;
  std::vector<double> integers(const char* name, double low, double high) const;
  /// A list of lists; of one length when `matrix`, which then has at least one row and column.
  std::vector<std::vector<double>> rows(const char* name, bool matrix) const;
  /// A list of lists of lists.
  std::vector<std::vector<std::vector<double>>> blocks(const char* name) const;
  std::string text(const char* name) const;

  /// A word of a catalogue.
  template <class E>
  E word(const char* name, std::span<const Word<E>> table) const {
    if (const auto value = find_word(table, text(name))) return *value;
    throw Refusal{"out_of_range", std::string(name) + ": is one of " + joined(table, &Word<E>::word)};
  }

 private:
  const nlohmann::json& args_;
};

// The conventions of an estimator in a request: eps, ddof, k, origin and compat.

/// Reads those of the conventions that were given into a config whose form is known. Beside a system, eps and ddof may be left out; refused
/// are those that the system has otherwise, where the form reads them, and conventions that the system or the form lacks.
void read_conventions(const Arguments& a, EstimatorConfig& config);

}  // namespace odrpo::app
