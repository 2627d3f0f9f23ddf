// Formulas of levels: precedence and functions against values by hand, canonical texts, every kind of mistake at its character, random formulas
// against an evaluation of their own, and random texts.
#include "estimators/formula.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace odrpo;

namespace {

constexpr LevelPoint point{3, 0.25, 4.5, 8, 10};  // k, mu, med, G, K

/// The formula of a text that is one.
Formula formula(const std::string& text, std::vector<NamedNumber>& numbers) {
  const auto parsed = Formula::parse(text, numbers);
  INFO(text);
  REQUIRE(std::holds_alternative<Formula>(parsed));
  return std::get<Formula>(parsed);
}

double value(const std::string& text) {
  std::vector<NamedNumber> numbers;
  const Formula f = formula(text, numbers);
  REQUIRE(numbers.empty());
  return f.at(point, numbers);
}

std::string canonical(const std::string& text) {
  std::vector<NamedNumber> numbers;
  return formula(text, numbers).text();
}

/// "AT message | allowed | suggestion" of a text that is no formula.
std::string refused(const std::string& text) {
  std::vector<NamedNumber> numbers;
  const auto parsed = Formula::parse(text, numbers);
  INFO(text);
  REQUIRE(std::holds_alternative<FormulaError>(parsed));
  CHECK(numbers.empty());
  const auto& e = std::get<FormulaError>(parsed);
  return std::to_string(e.at) + " " + e.message + (e.allowed.empty() ? "" : " | " + e.allowed) + (e.suggestion.empty() ? "" : " | " + e.suggestion);
}

}  // namespace

TEST_CASE("formulas: precedence, signs, powers from the right, functions, variables, numbers") {
  CHECK(value("1+2*3") == 7);
  CHECK(value("(1+2)*3") == 9);
  CHECK(value("10-4-3") == 3);
  CHECK(value("16/4/2") == 2);
  CHECK(value("2^3^2") == 512);
  CHECK(value("-2^2") == -4);
  CHECK(value("(-2)^2") == 4);
  CHECK(value("2^-1") == 0.5);
  CHECK(value("2*-3") == -6);
  CHECK(value("--2") == 2);
  CHECK(value("1 - -1") == 2);
  CHECK(value("-k^2*2") == -18);
  CHECK(value("k") == 3);
  CHECK(value("mu") == 0.25);
  CHECK(value("med") == 4.5);
  CHECK(value("G/K") == 0.8);
  CHECK(value("max(1, 7, 3) + min(4,2)") == 9);
  CHECK(value("abs(-2.5)") == 2.5);
  CHECK(value("sqrt(2.25)") == 1.5);
  CHECK(value("exp(0)") == 1);
  CHECK(value("log(1)") == 0);
  CHECK(value("1.5e2 + .5 + 1.") == 151.5);
  CHECK(value("2^0.5") == std::sqrt(2.0));
  CHECK(value("0^0") == 1);
  CHECK(value("0^0.3") == 0);
  CHECK(value("2^1.5") == Approx(std::pow(2, 1.5)).epsilon(1e-15));
  CHECK(value("1.01^-1000") == Approx(std::pow(1.01, -1000)).epsilon(1e-12));
  CHECK(std::isnan(value("(-8)^(1/3)")));
  CHECK(std::isnan(value("max(log(-1), 2)")));
  CHECK(std::isnan(value("min(2, log(-1))")));
  CHECK(value("1/(mu - 0.25)") == std::numeric_limits<double>::infinity());
}

TEST_CASE("formulas: names are numbers, in the order in which they stand, shared by formulas") {
  std::vector<NamedNumber> numbers;
  const Formula a = formula("b*mu + a*b", numbers), b = formula("c + a", numbers);
  REQUIRE(numbers.size() == 3);
  CHECK((numbers[0].name == "b" && numbers[1].name == "a" && numbers[2].name == "c"));
  CHECK(std::isnan(numbers[0].value));
  numbers[0].value = 2, numbers[1].value = 5, numbers[2].value = 0.5;
  CHECK(a.at(point, numbers) == 10.5);
  CHECK(b.at(point, numbers) == 5.5);
  CHECK(a.names().size() == 2);
  CHECK((a.names()[1].number == 1 && a.names()[1].at == 7));
  CHECK((a.reads(LevelVariable::share) && !a.reads(LevelVariable::median) && !b.reads(LevelVariable::share)));
  CHECK(formula("max(med, 1)", numbers).reads(LevelVariable::median));
}

TEST_CASE("formulas: a list has a number for each level, and nothing above") {
  std::vector<NamedNumber> numbers;
  const Formula list = formula(" [1, -2.50 ,3e0]", numbers);
  CHECK(list.text() == "[1, -2.5, 3]");
  CHECK(list.list().size() == 3);
  CHECK(list.at({2, 0.5, 1, 8, 3}, numbers) == -2.5);
  CHECK(std::isnan(list.at({4, 0.5, 1, 8, 3}, numbers)));
  CHECK(formula("k", numbers).list().empty());
  std::string many = "[0.12345678901234567";
  for (int i = 1; i < 100; ++i) many += ", 0.12345678901234567";
  CHECK(formula(many + "]", numbers).list().size() == 100);
  CHECK(refused(many + ", 1]").ends_with("a list has at most 100 numbers"));
}

TEST_CASE("formulas: the canonical text does not depend on blanks or on how numbers are written, and reads back") {
  CHECK(canonical(" sqrt( k )*( 0.10+4.0*mu *(1-mu))") == "sqrt(k)*(0.1 + 4*mu*(1 - mu))");
  CHECK(canonical("max(1,k,2)^-.5/-k") == "max(1, k, 2)^-0.5/-k");
  for (const char* text : {"-2^2", "a-b - -c", "1e-300*k", "min(k, max(mu,2))", "[1, 2]", "0.1 + 1e22"}) CHECK(canonical(canonical(text)) == canonical(text));
  std::vector<NamedNumber> numbers;
  CHECK(formula("k+1", numbers) == formula(" k + 1.0 ", numbers));
  CHECK(!(formula("k+1", numbers) == formula("1+k", numbers)));
  CHECK(Formula() == Formula());
  CHECK(!(Formula() == formula("k", numbers)));
}

TEST_CASE("formulas: every mistake is told at its character") {
  CHECK(refused("") == "0 a number, a name or ( is missing at the end");
  CHECK(refused("  ") == "2 a number, a name or ( is missing at the end");
  CHECK(refused("k +") == "3 a number, a name or ( is missing at the end");
  CHECK(refused("k + * 2") == "4 a number, a name or ( is missing before this");
  CHECK(refused("+k") == "0 a number, a name or ( is missing before this");
  CHECK(refused("2 mu") == "2 an operator is missing before this | + - * / ^");
  CHECK(refused("2(k)") == "1 an operator is missing before this | + - * / ^");
  CHECK(refused("1.2.3") == "3 an operator is missing before this | + - * / ^");
  CHECK(refused("2e") == "1 an operator is missing before this | + - * / ^");
  CHECK(refused(".") == "0 this is no number");
  CHECK(refused("k*1e999") == "2 this number is too large or too small for a double");
  CHECK(refused("(k + 1") == "0 this ( is not closed");
  CHECK(refused("sqrt(k + 1") == "4 this ( is not closed");
  CHECK(refused("(k 1)") == "3 an operator or ) is missing before this | + - * / ^ )");
  CHECK(refused("k)") == "1 this ) closes nothing");
  CHECK(refused("k]") == "1 this ] closes nothing");
  CHECK(refused("k**2") == "1 a power is written with ^ | ^");
  CHECK(refused("k % 2") == "2 a formula has no such character here");
  CHECK(refused("k = 2") == "2 a formula has no such character here");
  CHECK(refused("2*\xc2\xb5") == "2 a number, a name or ( is missing before this");
  CHECK(refused(std::string("k\0", 2)) == "1 a formula has no such character here");
  CHECK(refused("sqr(k)") == "0 `sqr` is no function | sqrt, exp, log, abs, min or max | sqrt");
  CHECK(refused("k*mu(2)") == "2 `mu` is no function | sqrt, exp, log, abs, min or max");
  CHECK(refused("2*sqrt") == "2 `sqrt` needs its argument in ( )");
  CHECK(refused("exp()") == "4 a number, a name or ( is missing before this");
  CHECK(refused("exp(k, 2)") == "5 this function has one argument");
  CHECK(refused("1 + max(k)") == "4 `max` has two arguments or more");
  CHECK(refused("min(1,)") == "6 a number, a name or ( is missing before this");
  CHECK(refused("[]") == "1 a list has numbers alone");
  CHECK(refused("[1, k]") == "4 a list has numbers alone");
  CHECK(refused("[1 2]") == "3 a , or ] is missing here");
  CHECK(refused("[1, 2") == "5 a , or ] is missing here");
  CHECK(refused("[1]*2") == "3 a formula has no such character here");
}

TEST_CASE("formulas: length and depth have limits, which are reached without harm") {
  const auto nested = [](std::size_t n) { return std::string(n, '(') + "k" + std::string(n, ')'); };
  CHECK(value(nested(most_formula_depth)) == 3);
  CHECK(refused(nested(most_formula_depth + 1)) == "50 nested deeper than 50");
  CHECK(value(std::string(most_formula_depth, '-') + "k") == 3);
  CHECK(refused(std::string(most_formula_depth + 1, '-') + "k") == "51 nested deeper than 50");
  std::string powers = "1", wide = "k", deep = "1";
  for (std::size_t i = 0; i < most_formula_depth; ++i) powers += "^1";
  CHECK(value(powers) == 1);
  CHECK(refused(powers + "^1") == "102 nested deeper than 50");
  while (wide.size() + 2 <= most_formula_characters) wide += "+1";
  CHECK(value(wide) == 3 + (static_cast<double>(wide.size()) - 1) / 2);
  CHECK(refused(wide + "+1") == "1000 a formula has at most 1000 characters");
  for (std::size_t i = 0; i < most_formula_depth; ++i) deep = "max(0, 0+0*0^" + deep + ")";  // as many numbers wait as can
  CHECK(refused(deep).ends_with("nested deeper than 50"));
  deep = "1";
  for (std::size_t i = 0; i < most_formula_depth / 2; ++i) deep = "max(0, 0+1*1^" + deep + ")";
  CHECK(value(deep) == 1);
}

namespace {

/// A random formula as text, and its value by std.
struct RandomFormula {
  std::mt19937_64& g;
  std::string text;
  double make(int depth) {
    const auto pick = g() % (depth > 0 ? 9 : 3);
    const auto two = [&](const char* between, auto f) {
      text += "(";
      const double x = make(depth - 1);
      text += between;
      const double y = make(depth - 1);
      text += ")";
      return f(x, y);
    };
    const auto one = [&](const std::string& name, auto f) {
      text += name + "(";
      const double x = make(depth - 1);
      text += ")";
      return f(x);
    };
    switch (pick) {
      case 0: return text += "k", point[0];
      case 1: return text += "mu", point[1];
      case 2: {
        const double x = static_cast<double>(g() % 1000) / 100;
        return text += shortest(x), x;
      }
      case 3: return two("+", [](double x, double y) { return x + y; });
      case 4: return two(" - ", [](double x, double y) { return x - y; });
      case 5: return two("*", [](double x, double y) { return x * y; });
      case 6: return one("exp", [](double x) { return std::exp(x); });
      case 7: return one("abs", [](double x) { return std::fabs(x); });
      default: return one("-", [](double x) { return -x; });
    }
  }
};

}  // namespace

TEST_CASE("formulas: random ones have the value of an evaluation of their own, also read back from the canonical text") {
  const unsigned seed = 20261127;
  INFO("seed " << seed);
  std::mt19937_64 g(seed);
  int compared = 0;
  for (int i = 0; i < 2000; ++i) {
    RandomFormula random{g, ""};
    const double want = random.make(4);
    if (random.text.size() > most_formula_characters) continue;
    INFO(random.text);
    const double got = value(random.text), again = value(canonical(random.text));
    CHECK(((got == again) || (std::isnan(got) && std::isnan(again))));
    if (!std::isfinite(want) || std::fabs(want) > 1e250) continue;
    ++compared;
    CHECK(got == Approx(want).epsilon(1e-10).margin(1e-10));
  }
  CHECK(compared > 1000);
}

TEST_CASE("formulas: random texts are formulas or mistakes within the text") {
  const unsigned seed = 20261128;
  INFO("seed " << seed);
  std::mt19937_64 g(seed);
  const std::vector<std::string> tokens = {"k", "mu", "sqrt", "max", "(", ")", "+", "-", "*", "/", "^", ",", "1", ".5", "2e3", " ", "[", "]", "a", "%"};
  int formulas = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = g() % 9; n > 0; --n) text += tokens[g() % tokens.size()];
    std::vector<NamedNumber> numbers;
    const auto parsed = Formula::parse(text, numbers);
    if (const auto* error = std::get_if<FormulaError>(&parsed)) {
      CHECK(error->at <= text.size());
      continue;
    }
    ++formulas;
    for (NamedNumber& n : numbers) n.value = 2;
    const Formula& f = std::get<Formula>(parsed);
    const double x = f.at(point, numbers), y = formula(f.text(), numbers).at(point, numbers);
    CHECK((x == y || (std::isnan(x) && std::isnan(y))));
  }
  CHECK(formulas > 500);
}
