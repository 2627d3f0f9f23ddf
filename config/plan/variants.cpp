// Reads [env.NAME], [rater.NAME], [policy.NAME] and [estimator.NAME].
#include <fmt/format.h>

#include <set>
#include <type_traits>

#include "config/catalogue/catalogue.hpp"
#include "config/plan/plan.hpp"
#include "config/plan/rater_file.hpp"
#include "config/read/field_reader.hpp"
#include "kernels/shared/suggest.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

namespace {

// what the variant starts from: its base, or itself when it is a word of the catalogue
template <class C>
std::optional<Entry<C>> start_of(const Node& section, const std::string& label, const Node* base, const std::optional<Entry<C>>& itself,
                                  bool needed, Diagnostics& errors) {
  using Catalogue = CatalogueOf<C>;
  if (base == nullptr) {
    if (!itself && needed)
      errors.add(section.key_place, fmt::format("[{}] needs `base = \"...\"`, the {} it starts from", label, section_of<C>()),
                 one_of(Catalogue::words()), errors.wants_detail() ? nearest_word(section.key, Catalogue::words()) : "");
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
  const auto start = start_of<C>(section, label, base, itself, reading.sound && !is_rater, errors);
  Variant<C> variant{itself ? itself->word : section.key, section.key_place, start ? start->config : C{}, {}};
  bool from_file = false;
  if constexpr (is_rater) {
    from_file = find_child(section, file_key) != nullptr;
    if (auto rater = read_rater_file(section, label, fields, reading)) variant.config = std::move(*rater);
    else if (from_file) variant.config.noise = {Confusion{}};  // what stands in the section maps it, whether or not the file can be read
  }
  if constexpr (is_rater) variant.scores = read_judge(section, label, itself.has_value(), fields, variant.config, reading);
  describe(fields, variant.config);
  fields.finish();
  variant.axes = std::move(fields.axes);
  if constexpr (is_rater) {
    const bool learned = from_file || find_child(section, scores_key) != nullptr;
    if (variant.config.noise.empty() && reading.sound && base == nullptr && !learned && find_child(section, "noise") == nullptr)
      errors.add(section.key_place,
                 fmt::format("[{0}] needs `noise = [...]`, or `base = \"...\"`, the rater it starts from, or a real judge's scores: "
                             "`scores = \"FILE.csv\"`, also as --set {0}.scores=FILE.csv",
                             label),
                 one_of(Catalogue::words()), errors.wants_detail() ? nearest_word(section.key, Catalogue::words()) : "");
  }
  if constexpr (std::is_same_v<C, EstimatorConfig>) {
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

}  // namespace odrpo
