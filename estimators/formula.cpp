// Parses formulas of a level by recursive descent into steps of a stack machine, and runs these.
#include "estimators/formula.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "kernels/math.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

enum class Op : char { number, variable, named, negate, add, subtract, multiply, divide, power, function };
constexpr std::size_t most_stack = 256;  // a level of nesting keeps at most four numbers waiting
constexpr std::size_t most_listed = 100;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The lesser of two numbers, NaN if one is NaN.
double lesser(double a, double b) { return a != a || a < b ? a : b; }

double apply(FormulaFunction f, double x) {
  switch (f) {
    case FormulaFunction::sqrt: return math::sqrt(x);
    case FormulaFunction::exp: return math::exp(x);
    case FormulaFunction::log: return math::log(x);
    default: return math::abs(x);
  }
}
bool takes_several(FormulaFunction f) { return f == FormulaFunction::min || f == FormulaFunction::max; }

template <std::size_t n>
int index_of(const FormulaWord (&words)[n], std::string_view word) {
  const auto at = std::find_if(std::begin(words), std::end(words), [&](const FormulaWord& w) { return w.word == word; });
  return at == std::end(words) ? -1 : static_cast<int>(at - std::begin(words));
}

}  // namespace

struct Formula::Program {
  struct Step {
    Op op;
    int index;  // of the variable, the number or the function
    double number;
  };
  std::string text;
  std::vector<Step> steps;
  std::vector<Name> names;
  std::vector<double> list;
};

class FormulaParser {
 public:
  FormulaParser(std::string_view text, std::vector<NamedNumber>& numbers, Formula::Program& out) : text_(text), numbers_(numbers), out_(out) {}

  /// Parses the whole text; throws FormulaError.
  void parse() {
    if (peek() == '[') list();
    else if (const std::size_t at = first_too_many(); at < text_.size()) fail(at, "a formula has at most " + std::to_string(most_formula_characters) + " characters");
    else sum();
    if (peek() == '\0' && at_ >= text_.size()) return;
    if (text_[at_] == ')' || text_[at_] == ']') fail(at_, std::string("this ") + text_[at_] + " closes nothing");
    if (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '(' || text_[at_] == '.') fail(at_, "an operator is missing before this", "+ - * / ^");
    fail(at_, "a formula has no such character here");
  }

 private:
  using Step = Formula::Program::Step;

  [[noreturn]] void fail(std::size_t at, std::string message, std::string allowed = {}, std::string suggestion = {}) const {
    throw FormulaError{at, std::move(message), std::move(allowed), std::move(suggestion)};
  }
  /// Where the text becomes too long, without its blanks, of which the canonical text has more than a person's; else its size.
  std::size_t first_too_many() const {
    std::size_t at = 0;
    for (std::size_t characters = 0; at < text_.size() && (text_[at] == ' ' || ++characters <= most_formula_characters);) ++at;
    return at;
  }
  /// The next character that is no blank; 0 at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void emit(Op op, int index = 0, double number = 0) { out_.steps.push_back({op, index, number}); }

  /// Counts one more level of nesting while it lives.
  struct Deeper {
    FormulaParser& of;
    explicit Deeper(FormulaParser& parser) : of(parser) {
      if (++of.depth_ > most_formula_depth) of.fail(of.at_, "nested deeper than " + std::to_string(most_formula_depth));
    }
    ~Deeper() { --of.depth_; }
  };

  void sum() {
    product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at_;
      out_.text += {' ', c, ' '};
      product();
      emit(c == '+' ? Op::add : Op::subtract);
    }
  }
  void product() {
    sign();
    for (char c = peek(); c == '*' || c == '/'; c = peek()) {
      if (text_.substr(at_, 2) == "**") fail(at_, "a power is written with ^", "", "^");
      ++at_;
      out_.text += c;
      sign();
      emit(c == '*' ? Op::multiply : Op::divide);
    }
  }
  void sign() {
    if (!take('-')) return raised();
    const Deeper deeper(*this);
    out_.text += '-';
    sign();
    emit(Op::negate);
  }
  void raised() {
    primary();
    if (!take('^')) return;
    const Deeper deeper(*this);
    out_.text += '^';
    sign();
    emit(Op::power);
  }
  void primary() {
    const char c = peek();
    const std::size_t begin = at_;
    if (c == '(') return parenthesised();
    if (is_digit(c) || c == '.') {
      const double x = number();
      out_.text += shortest(x);
      return emit(Op::number, 0, x);
    }
    if (is_letter(c)) return name();
    fail(begin, c == '\0' && begin >= text_.size() ? "a number, a name or ( is missing at the end" : "a number, a name or ( is missing before this");
  }
  void parenthesised() {
    const Deeper deeper(*this);
    const std::size_t open = at_++;
    out_.text += '(';
    sum();
    close(open);
  }
  void close(std::size_t open) {
    if (!take(')')) {
      if (at_ >= text_.size()) fail(open, "this ( is not closed");
      fail(at_, "an operator or ) is missing before this", "+ - * / ^ )");
    }
    out_.text += ')';
  }
  double number() {
    double x = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), x);
    if (error == std::errc::result_out_of_range) fail(at_, "this number is too large or too small for a double");
    if (error != std::errc{}) fail(at_, "this is no number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return x;
  }
  void name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    const int function = index_of(formula_functions, word), variable = index_of(formula_variables, word);
    out_.text += word;
    if (peek() == '(') {
      const auto functions = words_in(formula_functions);
      if (function < 0) fail(begin, "`" + word + "` is no function", one_of(functions), nearest_word(word, functions));
      return call(static_cast<FormulaFunction>(function), begin);
    }
    if (function >= 0) fail(begin, "`" + word + "` needs its argument in ( )");
    if (variable >= 0) return emit(Op::variable, variable);
    const auto same = [&](const NamedNumber& n) { return n.name == word; };
    const auto index = static_cast<std::size_t>(std::find_if(numbers_.begin(), numbers_.end(), same) - numbers_.begin());
    if (index == numbers_.size()) numbers_.push_back({word, undefined});
    if (std::none_of(out_.names.begin(), out_.names.end(), [&](const Formula::Name& n) { return n.number == index; })) out_.names.push_back({index, begin});
    emit(Op::named, static_cast<int>(index));
  }
  void call(FormulaFunction function, std::size_t begin) {
    const Deeper deeper(*this);
    const std::size_t open = at_++;
    out_.text += '(';
    sum();
    int arguments = 1;
    for (; peek() == ','; ++arguments) {
      if (!takes_several(function)) fail(at_, "this function has one argument");
      ++at_;
      out_.text += ", ";
      sum();
      emit(Op::function, static_cast<int>(function));
    }
    close(open);
    if (!takes_several(function)) return emit(Op::function, static_cast<int>(function));
    if (arguments == 1) fail(begin, "`" + std::string(formula_functions[static_cast<int>(function)].word) + "` has two arguments or more");
  }
  void list() {
    ++at_;
    do {
      const bool negative = take('-');
      if (!is_digit(peek()) && peek() != '.') fail(at_, "a list has numbers alone");
      const double x = number();
      out_.list.push_back(negative ? -x : x);
      if (out_.list.size() > most_listed) fail(at_, "a list has at most " + std::to_string(most_listed) + " numbers");
    } while (take(','));
    if (!take(']')) fail(at_, "a , or ] is missing here");
    out_.text = "[" + joined(out_.list, shortest) + "]";
  }

  std::string_view text_;
  std::vector<NamedNumber>& numbers_;
  Formula::Program& out_;
  std::size_t at_ = 0, depth_ = 0;
};

std::variant<Formula, FormulaError> Formula::parse(std::string_view text, std::vector<NamedNumber>& numbers) {
  auto program = std::make_shared<Program>();
  std::vector<NamedNumber> all = numbers;
  try {
    FormulaParser(text, all, *program).parse();
  } catch (FormulaError& error) {
    return std::move(error);
  }
  numbers = std::move(all);
  Formula formula;
  formula.program_ = std::move(program);
  return formula;
}

const std::string& Formula::text() const {
  static const std::string none;
  return empty() ? none : program_->text;
}
std::span<const double> Formula::list() const { return empty() ? std::span<const double>() : std::span<const double>(program_->list); }
std::span<const Formula::Name> Formula::names() const { return empty() ? std::span<const Name>() : std::span<const Name>(program_->names); }

bool Formula::reads(LevelVariable variable) const {
  return !empty() && std::any_of(program_->steps.begin(), program_->steps.end(), [&](const Program::Step& step) {
    return step.op == Op::variable && step.index == static_cast<int>(variable);
  });
}

double Formula::at(const LevelPoint& point, std::span<const NamedNumber> numbers) const {
  if (const auto& list = program_->list; !list.empty()) {
    const double level = point[static_cast<int>(LevelVariable::level)];
    return level >= 1 && level <= static_cast<double>(list.size()) ? list[static_cast<std::size_t>(level) - 1] : undefined;
  }
  double stack[most_stack];
  std::size_t n = 0;
  const auto push = [&](double x) { stack[n++] = x; };
  const auto two = [&](double x) { stack[--n - 1] = x; };  // the result of the last two numbers takes their place
  for (const Program::Step& step : program_->steps) {
    const double y = n > 0 ? stack[n - 1] : 0, x = n > 1 ? stack[n - 2] : 0;
    switch (step.op) {
      case Op::number: push(step.number); break;
      case Op::variable: push(point[static_cast<std::size_t>(step.index)]); break;
      case Op::named: push(numbers[static_cast<std::size_t>(step.index)].value); break;
      case Op::negate: stack[n - 1] = -y; break;
      case Op::add: two(x + y); break;
      case Op::subtract: two(x - y); break;
      case Op::multiply: two(x * y); break;
      case Op::divide: two(x / y); break;
      case Op::power: two(formula_power(x, y)); break;
      case Op::function: {
        const auto function = static_cast<FormulaFunction>(step.index);
        if (function == FormulaFunction::min) two(lesser(x, y));
        else if (function == FormulaFunction::max) two(-lesser(-x, -y));
        else stack[n - 1] = apply(function, y);
      }
    }
  }
  return stack[0];
}

double formula_power(double x, double y) {
  if (y == 0.5) return math::sqrt(x);
  if (!(math::abs(y) <= 1024 && y == math::floor(y))) return math::exp(y * math::log(x));
  double product = 1;
  for (int n = static_cast<int>(math::abs(y)); n > 0; n /= 2, x *= x)
    if (n % 2 == 1) product *= x;
  return y < 0 ? 1 / product : product;
}

std::string shortest(double x) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, x).ptr);
}

}  // namespace odrpo
