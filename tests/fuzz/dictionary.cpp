// Prints a dictionary for libFuzzer from the program's own catalogues: `suite` (words of suite files) or `compute` (functions, arguments).
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "app/compute/functions.hpp"
#include "app/reference/schema.hpp"
#include "estimators/estimator.hpp"
#include "kernels/shared/words.hpp"

namespace {

using Words = std::set<std::string>;

void add_suite_words(const nlohmann::ordered_json& schema, Words& words) {
  if (schema.is_object()) {
    if (schema.contains("properties"))
      for (const auto& [key, value] : schema["properties"].items()) words.insert(key);
    for (const char* key : {"const", "default"})
      if (schema.contains(key) && schema[key].is_string()) words.insert(schema[key].get<std::string>());
    if (schema.contains("enum"))
      for (const auto& value : schema["enum"])
        if (value.is_string()) words.insert(value.get<std::string>());
  }
  if (schema.is_structured())
    for (const auto& part : schema) add_suite_words(part, words);
}

Words suite_words() {
  Words words;
  add_suite_words(nlohmann::ordered_json::parse(odrpo::app::suite_schema()), words);
  for (const auto& name : odrpo::whole_catalogue()) words.insert(std::string(name));
  for (const auto& variable : odrpo::formula_variables) words.insert(std::string(variable.word));
  for (const auto& function : odrpo::formula_functions) words.insert(std::string(function.word) + "(");
  for (const char* sign : {"[",
                           "]",
                           "[[",
                           "]]",
                           "{",
                           "}",
                           "=",
                           " = ",
                           "\"",
                           "'",
                           "\"\"\"",
                           "'''",
                           ".",
                           ", ",
                           "#",
                           "\n",
                           "\r\n",
                           "\\u001b",
                           "\\U0001f600",
                           "nan",
                           "inf",
                           "-inf",
                           "1e999",
                           "1e-999",
                           "-0.0",
                           "0x7f",
                           "0o7",
                           "0b1",
                           "1_000",
                           "9223372036854775807",
                           "-9223372036854775808",
                           "99999999999999999999",
                           "true",
                           "false",
                           "1979-05-27T07:32:00Z",
                           "07:32:00",
                           "judge.csv",
                           "\xef\xbb\xbf",
                           "\xff\xfe",
                           "\xe2\x80\xae",
                           "[suite]\n",
                           "[grid]\n",
                           "[learn]\n",
                           "[rater.r]\n",
                           "[env.e]\n",
                           "[estimator.e]\n",
                           "[policy.p]\n",
                           "[table]\n",
                           "[record]\n",
                           "[limits]\n"})
    words.insert(sign);
  return words;
}

template <class E>
void add_words(std::span<const odrpo::Word<E>> table, Words& words) {
  for (const auto& word : table) words.insert(std::string(word.word));
}

Words compute_words() {
  Words words = {"\"id\":",    "\"fn\":", "\"args\":", "null",    "true",   "[",     "]",   "{",       "}",
                 ",",          ":",       "1e100",     "-1e100",  "1e-320", "1e308", "0.5", "1000000", "9007199254740993",
                 "4294967296", "-1",      "-0.0",      "\\u0000", "\\ud800"};
  for (const auto& function : odrpo::app::compute_functions()) {
    words.insert('"' + std::string(function.name) + '"');
    for (const auto& argument : function.text.arguments) words.insert('"' + std::string(argument.name) + "\":");
  }
  for (const auto& name : odrpo::whole_catalogue()) words.insert('"' + std::string(name) + '"');
  return words;
}

/// A line of a dictionary: the word in quotes, bytes beyond printable ASCII as \xNN.
void print(std::string_view word) {
  std::putchar('"');
  for (const char c : word) {
    if (c == '"' || c == '\\') std::printf("\\%c", c);
    else if (c >= 0x20 && c < 0x7f) std::putchar(c);
    else std::printf("\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  std::puts("\"");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const auto& word : argv[1] == std::string_view("suite") ? suite_words() : compute_words())
    if (!word.empty()) print(word);
}
