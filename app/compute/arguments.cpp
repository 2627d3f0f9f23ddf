// Reads the arguments of a compute request.
#include "app/compute/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <nlohmann/json.hpp>

#include "estimators/compat.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/level_values.hpp"

namespace odrpo::app {
namespace {

using nlohmann::json;

std::string article(const json& value) {
  switch (value.type()) {
    case json::value_t::null: return "null";
    case json::value_t::boolean: return "a boolean";
    case json::value_t::string: return "a string";
    case json::value_t::array: return "a list";
    case json::value_t::object: return "an object";
    default: return "a number";
  }
}

double read_number(const json& value, const char* name, double low, double high) {
  if (!value.is_number()) throw Refusal{"wrong_type", fmt::format("{}: a number is needed, not {}", name, article(value))};
  const double x = value.get<double>();
  if (!(x >= low && x <= high)) throw Refusal{"out_of_range", fmt::format("{}: {} is not in {} .. {}", name, x, low, high)};
  return x;
}

/// Reads a whole number; 7.0 counts as one.
double read_integer(const json& value, const char* name, double low, double high) {
  if (value.is_number() && !value.is_number_integer() && value.get<double>() != std::floor(value.get<double>()))
    throw Refusal{"wrong_type", fmt::format("{}: whole numbers are needed, not {}", name, value.get<double>())};
  return read_number(value, name, low, high);
}

const json& list(const json& value, const char* name) {
  if (!value.is_array()) throw Refusal{"wrong_type", fmt::format("{}: a list is needed, not {}", name, article(value))};
  return value;
}

template <class Read>
auto read_list(const json& value, const char* name, Read read) {
  std::vector<decltype(read(value))> out;
  out.reserve(list(value, name).size());
  for (const json& item : value) out.push_back(read(item));
  return out;
}

/// A name in quotes, as messages show it; cut after 40 bytes.
std::string in_quotes(std::string_view name) { return fmt::format("\"{}{}\"", name.substr(0, 40), name.size() > 40 ? "…" : ""); }

}  // namespace

Arguments::Arguments(const json& args, std::span<const Argument> known) : args_(args) {
  std::vector<std::string_view> names;
  for (const Argument& a : known) names.push_back(a.name);
  for (const auto& [name, value] : args.items())
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Refusal{"unknown_argument", fmt::format("args: {} is not one of {}", in_quotes(name), fmt::join(names, ", "))};
  for (const Argument& a : known)
    if (!a.optional && !args.contains(a.name) && (a.beside.empty() || !args.contains(a.beside)))
      throw Refusal{"missing_argument", fmt::format("args: {} is missing", in_quotes(a.name))};
}

bool Arguments::given(const char* name) const { return args_.contains(name); }
bool Arguments::is_null(const char* name) const { return args_.at(name).is_null(); }

double Arguments::number(const char* name, double low, double high) const { return read_number(args_.at(name), name, low, high); }

std::optional<double> Arguments::number_or_null(const char* name, double low, double high) const {
  if (is_null(name)) return std::nullopt;
  return number(name, low, high);
}

int Arguments::integer(const char* name, int low, int high) const {
  return static_cast<int>(read_integer(args_.at(name), name, low, high));
}

std::vector<double> Arguments::numbers(const char* name, double low, double high) const {
  return read_list(args_.at(name), name, [&](const json& v) { return read_number(v, name, low, high); });
}

std::vector<double> Arguments::numbers_or_null(const char* name, double low, double high, bool whole) const {
  return read_list(args_.at(name), name, [&](const json& v) {
    return v.is_null() ? std::nan("") : whole ? read_integer(v, name, low, high) : read_number(v, name, low, high);
  });
}

std::vector<double> Arguments::integers(const char* name, double low, double high) const {
  return read_list(args_.at(name), name, [&](const json& v) { return read_integer(v, name, low, high); });
}

std::vector<std::vector<double>> Arguments::rows(const char* name, bool matrix, bool nulls) const {
  const auto number = [&](const json& v) { return nulls && v.is_null() ? std::nan("") : read_number(v, name, -any_number, any_number); };
  auto out = read_list(args_.at(name), name, [&](const json& row) { return read_list(row, name, number); });
  if (!matrix) return out;
  if (out.empty() || out[0].empty()) throw Refusal{"wrong_shape", fmt::format("{}: at least one row and one column are needed", name)};
  for (const auto& row : out)
    if (row.size() != out[0].size()) throw Refusal{"wrong_shape", fmt::format("{}: rows of one length are needed", name)};
  return out;
}

std::vector<std::vector<std::vector<double>>> Arguments::blocks(const char* name) const {
  const auto number = [&](const json& v) { return read_number(v, name, -any_number, any_number); };
  const auto row = [&](const json& v) { return read_list(v, name, number); };
  return read_list(args_.at(name), name, [&](const json& v) { return read_list(v, name, row); });
}

std::string Arguments::text(const char* name) const {
  const json& value = args_.at(name);
  if (!value.is_string()) throw Refusal{"wrong_type", fmt::format("{}: a word is needed, not {}", name, article(value))};
  return value.get<std::string>();
}

std::string Arguments::formula(const char* name) const {
  if (!args_.at(name).is_array()) return text(name);
  numbers(name);  // refuses what is no number
  return args_.at(name).dump();
}

void read_level_values(const Arguments& a, std::span<const double> rewards, EstimatorConfig& c) {
  if (!a.given("values")) return;
  c.values = a.numbers("values", -most_level_value, most_level_value);
  if (const auto why = values_refusal(c)) throw Refusal{"out_of_range", "values: " + *why};
  for (const double r : rewards)
    if (!std::isnan(r) && !(r >= 0 && r <= static_cast<double>(c.values.size())))
      throw Refusal{"out_of_range", fmt::format("rewards: beside values they are scores 0..{}, the number of values", c.values.size())};
}

int read_formulas(const Arguments& a, EstimatorConfig& c) {
  int levels = a.given("K") ? a.integer("K", 1, 1'000'000) : static_cast<int>(c.values.size());
  for (const auto& [name, formula] : {std::pair("weight", &c.weight_formula), std::pair("norm", &c.norm_formula)}) {
    if (!a.given(name)) continue;
    if (c.form != Form::odrpo || (formula == &c.weight_formula && c.weight != Weight::uniform))
      throw Refusal{"out_of_range", fmt::format("{}: est = \"odrpo(NORM)\" takes it, not {}", name, estimator_word(c))};
    auto parsed = Formula::parse(a.formula(name), c.numbers);
    if (const auto* error = std::get_if<FormulaError>(&parsed)) throw Refusal{"out_of_range", fmt::format("{}: column {}: {}", name, error->at + 1, error->message)};
    *formula = std::get<Formula>(std::move(parsed));
    if (!formula->names().empty())
      throw Refusal{"out_of_range", fmt::format("{}: column {}: `{}` is no variable: write the number itself", name, formula->names()[0].at + 1, c.numbers[0].name)};
    if (levels == 0) levels = static_cast<int>(formula->list().size());
  }
  if (a.given("K") && !c.weight_formula.reads(LevelVariable::levels) && !c.norm_formula.reads(LevelVariable::levels))
    throw Refusal{"out_of_range", "K: no formula reads it"};
  if (const auto why = formula_refusal(c, levels)) throw Refusal{"out_of_range", *why};
  return std::max(levels, 1);
}

void join_rounded(std::span<double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  double largest = 0;
  for (const double x : numbers) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 1; i < order.size(); ++i)
    if (numbers[order[i]] - numbers[order[i - 1]] < rounding_of_ranks * largest) numbers[order[i]] = numbers[order[i - 1]];
}

void read_conventions(const Arguments& a, EstimatorConfig& c) {
  if (a.given("k")) c.k = a.integer("k", 2, 254);
  if (a.given("k") && !reads_key(c.form, FormKeys::k)) throw Refusal{"out_of_range", "k: only forms that compare subsets read it"};
  if (a.given("kappa")) c.kappa = a.number("kappa", 0, 1);
  if (a.given("kappa") && !reads_key(c.form, FormKeys::kappa)) throw Refusal{"out_of_range", "kappa: only qae reads it"};
  if (a.given("r_min")) c.r_min = a.number("r_min", -most_level_value, most_level_value);
  if (a.given("r_min") && !reads_key(c.form, FormKeys::r_min)) throw Refusal{"out_of_range", "r_min: only corpo reads it"};
  if (a.given("origin")) c.origin = a.integer("origin", 0, 1);
  if (a.given("compat")) c.compat = a.word<Compat>("compat", compat_words);
  const double eps = a.given("eps") ? a.number("eps", 0, 1e6) : c.eps;
  const int ddof = a.given("ddof") ? a.integer("ddof", 0, 1) : c.ddof;
  if (c.compat == Compat::paper) c.eps = eps, c.ddof = ddof;
  if (const auto why = compat_refusal(c)) throw Refusal{"out_of_range", *why};
  const Convention system = convention_of(c);
  const auto must_be = [&](const char* name, double own, double given) {
    if (a.given(name) && given != own)
      throw Refusal{"out_of_range",
                    fmt::format("{0}: compat \"{1}\" has {0} = {2}, not {3}", name, word_of<Compat>(compat_words, c.compat), own, given)};
  };
  const bool deviation = system.divisor == Divisor::deviation || system.divisor == Divisor::others_deviation;
  if (c.compat != Compat::paper && system.divisor != Divisor::none) must_be("eps", system.eps, eps);
  if (c.compat != Compat::paper && deviation) must_be("ddof", system.ddof, ddof);
}

}  // namespace odrpo::app
