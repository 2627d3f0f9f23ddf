// Reads [env.NAME], [rater.NAME], [policy.NAME] and [estimator.NAME].
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>
#include <type_traits>

#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/learned_judge.hpp"
#include "config/plan/plan.hpp"
#include "config/plan/rater_file.hpp"
#include "config/read/field_reader.hpp"
#include "config/read/read_file.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo {
namespace {

// returns the catalogue entry that the variant starts from: its base, or itself when it is a word of the catalogue
template <class C>
std::optional<Entry<C>> start_of(const Node& section, const std::string& label, const Node* base, const std::optional<Entry<C>>& itself,
                                  bool needed, Diagnostics& errors) {
  using Catalogue = CatalogueOf<C>;
  if (base == nullptr) {
    if (!itself && needed)
      errors.add(section.key_place, fmt::format("[{}] needs `base = \"...\"`, the {} it starts from", label, section_of<C>()),
                 allowed_words<C>(Catalogue::words()), errors.wants_detail() ? nearest_word(section.key, Catalogue::words()) : "");
    return itself;
  }
  auto entry = read_base<C>(*base, label, errors);
  if (entry && itself && itself->word != entry->word)
    errors.add(base->place, fmt::format("[{}] would make the word \"{}\" mean \"{}\": give the variant a name of its own", label, itself->word, entry->word));
  return entry ? entry : itself;
}

template <class C>
Variant<C> read_variant(const Node& section, Reading& reading) {
  using Catalogue = CatalogueOf<C>;
  Diagnostics& errors = reading.errors;
  const auto itself = Catalogue::find(section.key);
  const std::string label = std::string(section_of<C>()) + "." + (is_name(section.key) ? section.key : written_key(section.key));
  if (!itself && !is_name(section.key))
    errors.add(section.key_place, fmt::format("\"{}\" cannot be a name", shown(section.key)),
               "letters, digits, `.`, `_`, `-`; first a letter or digit; at most 64");
  FieldReader fields(&section, label, true, errors);
  const Node* base = fields.extra(base_key);
  constexpr bool is_rater = std::is_same_v<C, RaterConfig>;
  std::optional<Entry<C>> implied;  // a command or a library is the base
  if constexpr (std::is_same_v<C, EstimatorConfig>)
    for (const auto& [key, word] : {std::pair(command_key, command_word), std::pair(library_key, library_word)})
      if (base == nullptr && !itself && !implied && find_child(section, key) != nullptr) implied = Catalogue::find(word);
  const auto start = implied ? implied : start_of<C>(section, label, base, itself, reading.sound && !is_rater, errors);
  Variant<C> variant{itself ? itself->word : section.key, section.key_place, start ? start->config : C{}, {}};
  bool from_file = false;
  if constexpr (is_rater) {
    from_file = find_child(section, file_key) != nullptr;
    if (auto rater = read_rater_file(section, label, fields, reading)) variant.config = std::move(*rater);
    else if (from_file) variant.config.noise = {Confusion{}};  // a placeholder, so that the other keys can be read without the file
  }
  if constexpr (is_rater) variant.scores = read_judge(section, label, itself.has_value(), fields, variant.config, reading);
  if constexpr (std::is_same_v<C, EnvConfig>)
    if (variant.config.kind == WorldKind::bandit)
      for (const std::string_view key : {rollouts_key, scale_key, reward_key}) fields.extra(key);  // read_groups() reads them, when the judge is known
  fields.read(variant.config);
  fields.finish();
  variant.axes = std::move(fields.axes);
  if constexpr (is_rater) {
    const bool learned = from_file || find_child(section, scores_key) != nullptr;
    if (variant.config.noise.empty() && reading.sound && base == nullptr && !learned && find_child(section, "noise") == nullptr)
      errors.add(section.key_place,
                 fmt::format("[{0}] needs `noise = [...]`, or `base = \"...\"`, the rater it starts from, or a real judge's scores: "
                             "`scores = \"FILE.csv\"`, also as --set {0}.scores=FILE.csv",
                             label),
                 allowed_words<C>(Catalogue::words()), errors.wants_detail() ? nearest_word(section.key, Catalogue::words()) : "");
  }
  if constexpr (std::is_same_v<C, EstimatorConfig>) {
    if (variant.config.outside != Outside::none) read_outside(section, label, variant.config, reading);
    if (start) check_variant(section, variant, errors);
  }
  if constexpr (is_rater || std::is_same_v<C, PolicyConfig>) check_variant(section, variant, errors);
  if constexpr (std::is_same_v<C, EnvConfig>) variant.levels_given = find_child(section, levels_key) != nullptr;
  return variant;
}

}  // namespace

template <class C>
std::vector<Variant<C>> read_variants(const Node& root, Reading& reading) {
  Diagnostics& errors = reading.errors;
  constexpr auto kind = section_of<C>();
  std::vector<Variant<C>> variants;
  std::set<std::string> names;
  const Node* all = find_child(root, kind);
  if (all == nullptr) return variants;
  if (all->kind != Node::Kind::table) {
    errors.add(all->place, fmt::format("`{}` must be made of sections [{}.NAME], not {}", kind, kind, kind_text(all->kind)));
    return variants;
  }
  for (const auto& section : all->children) {
    if (section.kind != Node::Kind::table) {
      errors.add(section.key_place,
                 fmt::format("[{}] holds variants only; `{}` must stand in a section of its own", kind, shown(section.key)),
                 fmt::format("[{}.NAME]", kind));
      continue;
    }
    auto variant = read_variant<C>(section, reading);
    if (!names.insert(folded(variant.name)).second)
      errors.add(section.key_place, fmt::format("the {} `{}` is given twice", kind, shown(variant.name)));
    variants.push_back(std::move(variant));
  }
  return variants;
}

template std::vector<Variant<EnvConfig>> read_variants(const Node&, Reading&);
template std::vector<Variant<RaterConfig>> read_variants(const Node&, Reading&);
template std::vector<Variant<PolicyConfig>> read_variants(const Node&, Reading&);
template std::vector<Variant<EstimatorConfig>> read_variants(const Node&, Reading&);

// Reads the table of a section's file of scores, and learns a judge from it.

namespace {

// true if `scores` can be the path of a file; else reports it
bool is_path(const Node& scores, const std::string& label, Reading& reading) {
  const bool text = scores.kind == Node::Kind::text;
  if (!text || scores.text.empty())
    reading.errors.add(scores.place, fmt::format("`{}.scores` must be the path of a file in quotes, not {}", label,
                                                 text ? "an empty string" : found_text(scores)));
  else if (scores.text.find('\0') != std::string::npos)
    reading.errors.add(scores.place, fmt::format("`{}.scores` has a NUL byte, which no path has", label));
  else return true;
  return false;
}

constexpr std::string_view scale_form = "such as \"0..10\", \"0..5 by 0.5\" or [1, 2, 4, 8]; 2 to 100 different numbers";

// returns the numbers of a list, in increasing order; nothing if they are no scale
std::optional<ScoreScale> listed_scale(const Node& list) {
  ScoreScale scale;
  for (const Node& entry : list.children) {
    const bool number = entry.kind == Node::Kind::integer || entry.kind == Node::Kind::number;
    if (!number || !std::isfinite(entry.number)) return std::nullopt;
    scale.values.push_back(entry.number == 0 ? 0.0 : entry.number);
  }
  std::sort(scale.values.begin(), scale.values.end());
  const bool twice = std::adjacent_find(scale.values.begin(), scale.values.end()) != scale.values.end();
  if (twice || scale.values.size() < 2 || scale.values.size() > most_levels) return std::nullopt;
  return scale;
}

// returns the scale that `levels = K` or `scale = …` states; an empty scale if neither is given and valid
ScoreScale read_scale(const std::string& label, FieldReader& fields, Reading& reading) {
  const Node *levels = fields.extra(levels_key), *scale = fields.extra(scale_key);
  if (levels != nullptr && scale != nullptr)
    reading.errors.add(scale->key_place, fmt::format("`{0}.scale` and `{0}.levels` both say what the levels are: keep one", label));
  if (levels != nullptr) return scale_of_levels(static_cast<int>(fields.whole(levels_key, *levels, 2, most_levels).value_or(0)));
  if (scale == nullptr) return {};
  const bool list = scale->kind == Node::Kind::list;
  const auto read = list ? listed_scale(*scale) : scale->kind == Node::Kind::text ? parse_scale(scale->text) : std::nullopt;
  if (!read)
    reading.errors.add(scale->place, fmt::format("`{}.scale` states no scale: {}", label, list ? "a list" : found_text(*scale)),
                       std::string(scale_form));
  return read.value_or(ScoreScale{});
}

ScoreColumns read_columns(const std::string& label, FieldReader& fields, Reading& reading) {
  ScoreColumns columns;
  columns.named_by = "columns.";
  const Node* node = fields.extra(columns_key);
  if (node == nullptr) return columns;
  FieldReader reader(node, fmt::format("{}.{}", label, columns_key), false, reading.errors);
  reader.read(columns);
  reader.finish();
  for (const std::size_t f : {response_field, score_field})
    if (column_of(columns, f).empty())
      reading.errors.add(node->place, fmt::format("`{}.{}` leaves a name empty that every file must have", label, columns_key),
                         "response and score");
  return columns;
}

// reads the keys that say how to read a file of scores into `how` (reading_options(): results/scores/reading.hpp)
void read_reading(const std::string& label, FieldReader& fields, ScoreReading& how, Reading& reading) {
  for (const ReadingOption& option : reading_options()) {
    const Node* node = fields.extra(option.key);
    if (node == nullptr) continue;
    std::vector<std::string> items;
    const std::vector<Node> one{*node};
    for (const Node& entry : node->kind == Node::Kind::list && option.type == "list" ? node->children : one) {
      const bool number = entry.kind == Node::Kind::integer || entry.kind == Node::Kind::number;
      if (!number && entry.kind != Node::Kind::text)
        reading.errors.add(entry.place, fmt::format("`{}.{}` cannot be {}", label, option.key, found_text(entry)), option.type == "list" ? "a list of numbers and texts" : "a number or a text");
      else items.push_back(number ? number_text(entry.number) : entry.text);
    }
    if (const std::string wrong = items.empty() ? "" : option.set(how, items); !wrong.empty())
      reading.errors.add(node->place, fmt::format("`{}.{}` {}", label, option.key, wrong));
    if (option.key == "bins" && how.round > 0 && how.bins > 0)
      reading.errors.add(node->key_place, fmt::format("`{0}.round` and `{0}.bins` both make levels of continuous scores", label), "one of them");
  }
}

// reads the key `world`, which says what is made of the scores: a latent scale or resampled responses
LearnedWorld read_world(const std::string& label, FieldReader& fields, Reading& reading) {
  const Node* node = fields.extra(world_key);
  if (node == nullptr) return LearnedWorld::latent;
  const std::vector<std::string_view> words = words_in(learned_words);
  const bool text = node->kind == Node::Kind::text;
  const auto found = text ? find_word(std::span<const Word<LearnedWorld>>(learned_words), node->text) : std::nullopt;
  if (!found)
    reading.errors.add(node->place, fmt::format("`{}.world` cannot be {}", label, found_text(*node)), one_of(words),
                       text ? nearest_word(node->text, words) : "");
  return found.value_or(LearnedWorld::latent);
}

}  // namespace

FoundScores read_judge(const Node& section, const std::string& label, bool catalogue_word, FieldReader& fields, RaterConfig& config,
                       Reading& reading) {
  const Node* scores = fields.extra(scores_key);
  std::vector<std::string_view> keys = {levels_key, scale_key, columns_key, world_key};
  for (const ReadingOption& option : reading_options()) keys.push_back(option.key);
  for (const std::string_view key : keys)
    if (const Node* node = find_child(section, key); node != nullptr && scores == nullptr)
      reading.errors.add(node->key_place,
                         fmt::format("`{}.{}` has no effect without `scores`{}", label, key,
                                     key == levels_key ? ": a matrix has its own size, and other raters take the world's levels" : ""));
  ScoreReading how;
  how.scale = read_scale(label, fields, reading);
  how.columns = read_columns(label, fields, reading);
  read_reading(label, fields, how, reading);
  const LearnedWorld world = read_world(label, fields, reading);
  if (scores == nullptr) return {};
  if (catalogue_word)
    reading.errors.add(
        scores->key_place,
        fmt::format("[{}] would make the word \"{}\" mean a judge from a file: give the variant a name of its own", label, section.key));
  std::vector<std::string_view> others = {base_key, file_key, "noise"};
  for (const auto word : noise_words())
    if (makes_distribution(*make_noise(word))) others.push_back(word);
  for (const std::string_view other : others)
    if (const Node* node = find_child(section, other))
      reading.errors.add(node->key_place,
                         fmt::format("[{}] has `scores`, which make the whole channel: `{}` cannot stand beside them", label, other));
  config.noise = {Confusion{}};  // a placeholder, so that the other keys can be read without the file
  if (!is_path(*scores, label, reading)) return {};
  const std::string name = label + ".scores";
  const auto text = named_text(*scores, name, read_scores_file, reading);
  if (!text) return {};
  const std::string file = shown(path_of(*scores, reading), 4096);
  const std::clock_t began = std::clock();
  bool inside = true;  // errors are reported at their lines of the file
  try {
    const ScoreTable table = parse_scores(*text, file, how);
    inside = false;
    if (table.levels() == 1)
      fail(Exit::bad_input, "{}: all scores are {}: `levels` in [{}] must say how many the scale has", file, scale_text(table.values),
           label);
    LearnedJudge judge = learn_rater(table, world, file);
    config.noise = std::move(judge.noise);
    return {file, std::move(judge.found), static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC};
  } catch (const Failure& failure) {
    if (inside || !reading.only_below.empty()) add_inside(*scores, name, failure, false, reading);
    else reading.files.add_file(scores->place, failure.code, fmt::format("`{}`: {}", name, failure.what()));
  }
  return {};
}

}  // namespace odrpo
