// Reads [env.NAME], [rater.NAME], [policy.NAME] and [estimator.NAME].
#include <fmt/format.h>

#include <set>
#include <type_traits>

#include "suites/catalogue.hpp"
#include "suites/field_reader.hpp"
#include "suites/plan.hpp"
#include "suites/suggest.hpp"
#include "suites/text.hpp"

namespace odrpo {

namespace {

// what the variant starts from: its base, or itself when it is a word of the catalogue
template <class C>
std::optional<Entry<C>> read_base(const Node& section, const std::string& label, const Node* base, const std::optional<Entry<C>>& itself,
                                  bool needed, Diagnostics& errors) {
  using Catalogue = CatalogueOf<C>;
  if (base == nullptr) {
    if (!itself && needed)
      errors.add(section.key_place, fmt::format("[{}] needs `base = \"...\"`, the {} it starts from", label, section_of<C>()),
                 one_of(Catalogue::words()), errors.wants_detail() ? nearest_word(section.key, Catalogue::words()) : "");
    return itself;
  }
  if (base->kind != Node::Kind::text) {
    errors.add(base->place, fmt::format("`{}.base` must be a word in quotes, not {}", label, kind_text(base->kind)),
               one_of(Catalogue::words()));
    return itself;
  }
  auto entry = Catalogue::find(base->text);
  if (!entry) {
    errors.add(
        base->place,
        fmt::format("`{}.base` must be a word of the catalogue, and there is no {} \"{}\"", label, section_of<C>(), shown(base->text)),
        one_of(Catalogue::words()), errors.wants_detail() ? nearest_word(base->text, Catalogue::words()) : "");
  } else if (itself && itself->word != entry->word) {
    errors.add(base->place, fmt::format("[{}] would make the word \"{}\" mean \"{}\": give the variant a name of its own", label,
                                        itself->word, entry->word));
  }
  return entry ? entry : itself;
}

template <class C>
Variant<C> read_variant(const Node& section, bool sound, Diagnostics& errors) {
  using Catalogue = CatalogueOf<C>;
  const auto itself = Catalogue::find(section.key);
  const std::string label = std::string(section_of<C>()) + "." + (is_name(section.key) ? section.key : written_key(section.key));
  if (!itself && !is_name(section.key))
    errors.add(section.key_place, fmt::format("\"{}\" cannot be a name", shown(section.key)),
               "letters, digits, `.`, `_`, `-`; first a letter or digit; at most 64");
  FieldReader fields(&section, label, true, errors);
  const Node* base = fields.extra("base");
  constexpr bool is_rater = std::is_same_v<C, RaterConfig>;
  const auto start = read_base<C>(section, label, base, itself, sound && !is_rater, errors);
  Variant<C> variant{itself ? itself->word : section.key, section.key_place, start ? start->config : C{}, {}};
  describe(fields, variant.config);
  fields.finish();
  variant.axes = std::move(fields.axes);
  if constexpr (is_rater) {
    if (variant.config.noise.empty() && sound && base == nullptr && find_child(section, "noise") == nullptr)
      errors.add(section.key_place, fmt::format("[{}] needs `noise = [...]`, or `base = \"...\"`, the rater it starts from", label),
                 one_of(Catalogue::words()), errors.wants_detail() ? nearest_word(section.key, Catalogue::words()) : "");
  }
  if constexpr (std::is_same_v<C, EstimatorConfig>) {
    if (start) check_variant(section, variant, errors);
  }
  return variant;
}

}  // namespace

template <class C>
std::vector<Variant<C>> read_variants(const Node& root, bool sound, Diagnostics& errors) {
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
    auto variant = read_variant<C>(section, sound, errors);
    if (!names.insert(folded(variant.name)).second)
      errors.add(section.key_place, fmt::format("the {} `{}` is given twice", kind, shown(variant.name)));
    variants.push_back(std::move(variant));
  }
  return variants;
}

template std::vector<Variant<BanditConfig>> read_variants(const Node&, bool, Diagnostics&);
template std::vector<Variant<RaterConfig>> read_variants(const Node&, bool, Diagnostics&);
template std::vector<Variant<PolicyConfig>> read_variants(const Node&, bool, Diagnostics&);
template std::vector<Variant<EstimatorConfig>> read_variants(const Node&, bool, Diagnostics&);

}  // namespace odrpo
