// Reads the noise of a rater: a list of models, and sub-tables named after a model that change it or add it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/read/field_reader.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

namespace {

template <std::size_t... I>
constexpr auto words_of(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{std::variant_alternative_t<I, Noise>::word...};
}
constexpr auto all_noise_words = words_of(std::make_index_sequence<std::variant_size_v<Noise>>());

template <std::size_t... I>
std::optional<Noise> make_by_word(std::string_view word, std::index_sequence<I...>) {
  std::optional<Noise> made;
  ((same_word(all_noise_words[I], word) ? void(made = std::variant_alternative_t<I, Noise>{}) : void()), ...);
  return made;
}

/// Reports why distributions and prompts of resampled responses do not fit together, although each is valid by itself.
void explain_responses(const Node& entry, const std::string& label, Diagnostics& errors) {
  const Node *distributions = find_child(entry, "laws"), *prompts = find_child(entry, "prompts"), *judges = find_child(entry, "judges");
  if (distributions == nullptr || prompts == nullptr) return;
  const std::size_t rows = distributions->children.size(), each = judges == nullptr ? 1 : static_cast<std::size_t>(judges->integer);
  if (each > 0 && rows % each != 0)
    return errors.add(distributions->place, fmt::format("`{}`: {} rows of `laws` are no multiple of {} judges", label, rows, each));
  for (const Node& prompt : prompts->children)
    for (const Node& distribution : prompt.children)
      if (each > 0 && distribution.number >= static_cast<double>(rows / each))
        return errors.add(distribution.place,
                          fmt::format("`{}`: `prompts` names law {}, and there are {}, numbered from 0", label, distribution.number, rows / each));
}

}  // namespace

std::span<const std::string_view> noise_words() { return all_noise_words; }
std::string_view noise_word(const Noise& noise) { return all_noise_words[noise.index()]; }
std::string_view noise_help(const Noise& noise) {
  return std::visit([](const auto& model) { return model.help; }, noise);
}
std::optional<Noise> make_noise(std::string_view word) {
  return make_by_word(word, std::make_index_sequence<std::variant_size_v<Noise>>());
}

// reads noise = [ { model = "gaussian", sigma = 0.5 }, ... ], which replaces the list of models
void FieldReader::read_list(const Node& node, std::vector<Noise>& value) {
  const std::string section = section_ + "." + node.key;
  if (node.kind != Node::Kind::list || node.children.empty()) {
    errors_.add(node.place,
                node.kind == Node::Kind::list
                    ? fmt::format("`{}` is an empty list; at least a model that makes a distribution is needed", section)
                    : fmt::format("`{}` must be a list of models, not {}", section, kind_text(node.kind)),
                "[{ model = \"gaussian\", sigma = 0.5 }, ...]");
    return;
  }
  value.clear();
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Node& entry = node.children[i];
    const std::string label = fmt::format("{}[{}]", section, i + 1);
    if (entry.kind != Node::Kind::table) {
      errors_.add(entry.place, fmt::format("`{}` must be a model, not {}", label, found_text(entry)), "{ model = \"...\" }");
      continue;
    }
    FieldReader fields(&entry, label, false, errors_);
    const Node* model = fields.extra("model");
    const bool word = model != nullptr && model->kind == Node::Kind::text;
    auto noise = word ? make_noise(model->text) : std::nullopt;
    if (!noise) {
      const Place place = model == nullptr ? entry.place : model->place;
      errors_.add(place,
                  word ? fmt::format("`{}`: unknown noise model \"{}\"", label, shown(model->text))
                       : fmt::format("`{}` needs `model = \"...\"`", label),
                  one_of(noise_words()), word ? nearest_word(model->text, noise_words()) : "");
      continue;
    }
    fields.read(*noise);
    fields.finish();
    const auto* resample = std::get_if<ResampleNoise>(&*noise);
    if (resample != nullptr && !resample->responses) explain_responses(entry, label, errors_);
    const bool first = i == 0;
    if (makes_distribution(*noise) != first)
      errors_.add(entry.place,
                  first ? fmt::format("`{}`: the first noise model must make a distribution, and `{}` maps one", label, noise_word(*noise))
                        : fmt::format("`{}`: `{}` makes a distribution and can only be the first noise model", label, noise_word(*noise)));
    // these models may occur once: a response has one trait of ambiguity and one of bias, a prompt has one of severity
    const auto again = [&](const Noise& n) { return n.index() == noise->index(); };
    if ((std::holds_alternative<Veto>(*noise) || std::holds_alternative<SeverityOffset>(*noise) ||
         std::holds_alternative<SharedBias>(*noise)) &&
        std::any_of(value.begin(), value.end(), again))
      errors_.add(entry.place, fmt::format("`{}`: a noise list may hold one {} model", label, noise_word(*noise)));
    value.push_back(*noise);
  }
}

// reads a table such as [rater.loud.low] p = 0.1, which changes the model `low` or adds it at the end
void FieldReader::read_model(const Node& node, std::vector<Noise>& value) {
  Noise fresh = *make_noise(node.key);
  const auto is_it = [&](const Noise& n) { return n.index() == fresh.index(); };
  if (std::count_if(value.begin(), value.end(), is_it) > 1) {
    errors_.add(node.key_place, fmt::format("the noise list has several `{}`: write the whole list as `noise = [...]`", noise_word(fresh)));
    return;
  }
  auto at = std::find_if(value.begin(), value.end(), is_it);
  if (at == value.end()) {
    if (makes_distribution(fresh) != value.empty()) {
      errors_.add(node.key_place, value.empty()
                                      ? fmt::format("the first noise model must make a distribution, and `{}` maps one", noise_word(fresh))
                                      : fmt::format("`{}` makes a distribution and can only be the first noise model", noise_word(fresh)));
      return;
    }
    at = value.insert(value.end(), fresh);
  }
  const std::string word(noise_word(fresh));
  FieldReader fields(&node, section_ + "." + word, axes_allowed_, errors_);
  fields.read(*at);
  fields.finish();
  for (auto& axis : fields.axes) {
    axis.key = axis.name = word + "." + axis.key;
    axis.section = section_;
    axes.push_back(std::move(axis));
  }
}

void FieldReader::models(const Field& field) {
  auto& value = field.as<std::vector<Noise>>();
  if (const Node* list = take(field.key)) read_list(*list, value);
  if (table_ != nullptr) {
    for (const auto& child : table_->children) {
      const auto fresh = make_noise(child.key);
      if (!fresh || find_child(*table_, noise_word(*fresh)) != &child) continue;
      used_.push_back(&child);
      read_model(child, value);
    }
  }
  for (const auto word : noise_words()) known_.push_back(word);
}

void FieldReader::matrix(const Field& field) {
  const std::string_view key = field.key;
  auto& value = field.as<Square>();
  const Node* node = take(key);
  if (node == nullptr) {
    if (value.size == 0 && table_ != nullptr)
      errors_.add(table_->place, fmt::format("{} is missing", label(key)), "one row of probabilities per level, lowest first");
    return;
  }
  const std::size_t n = node->children.size();
  if (node->kind != Node::Kind::list || n < 2 || n > 100) {
    errors_.add(node->place,
                node->kind == Node::Kind::list
                    ? fmt::format("{} has {}, and a scale has 2..100 levels", label(key), counted(n, "row"))
                    : fmt::format("{} must be a list of rows, not {}", label(key), kind_text(node->kind)),
                "[[0.9, 0.1], [0.2, 0.8]]");
    return;
  }
  auto values = std::make_shared<std::vector<double>>();
  bool sound = true;
  const auto refuse = [&](const Node& at, const std::string& why, const std::string& allowed) {
    errors_.add(at.place, why, allowed);
    sound = false;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const Node& row = node->children[i];
    if (row.kind != Node::Kind::list || row.children.size() != n) {
      refuse(row,
             row.kind == Node::Kind::list
                 ? fmt::format("row {} of {} has {} entries, and the matrix has {} rows: it must be square", i + 1, label(key),
                               row.children.size(), n)
                 : fmt::format("row {} of {} must be a list of probabilities, not {}", i + 1, label(key), kind_text(row.kind)),
             "");
      continue;
    }
    double sum = 0;
    bool sound_row = true;
    for (const Node& entry : row.children) {
      const bool number = entry.kind == Node::Kind::number || entry.kind == Node::Kind::integer;
      if (!number || !(entry.number >= 0 && entry.number <= 1)) {
        refuse(entry, fmt::format("row {} of {} has {}, which is no probability", i + 1, label(key), found_text(entry)), "0..1");
        sound_row = false;
        continue;
      }
      sum += entry.number;
    }
    if (sound_row && !(math::abs(sum - 1) <= 1e-6))
      refuse(row, fmt::format("row {} of {} sums to {:.12g}, not to 1", i + 1, label(key), sum), "");
    // a sum that is 1 but for rounding stays as it is, so that a matrix that was written out reads back unchanged
    const double scale = math::abs(sum - 1) <= 1e-12 ? 1 : sum;
    if (sound)
      for (const Node& entry : row.children) values->push_back(entry.number / scale);
  }
  if (sound) value = {static_cast<int>(n), std::move(values)};
}

}  // namespace odrpo
