// `base = "WORD"` of a section: the catalogue's config that it starts from.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>

#include "kernels/shared/suggest.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/read/diagnostics.hpp"
#include "config/read/text.hpp"
#include "config/read/tree.hpp"

namespace odrpo {

/// The entry that `base` names; an error at its place, and nothing, where it names none.
template <class C>
std::optional<Entry<C>> read_base(const Node& base, const std::string& label, Diagnostics& errors) {
  using Catalogue = CatalogueOf<C>;
  if (base.kind != Node::Kind::text) {
    errors.add(base.place, fmt::format("`{}.base` must be a word in quotes, not {}", label, kind_text(base.kind)), one_of(Catalogue::words()));
    return std::nullopt;
  }
  auto entry = Catalogue::find(base.text);
  if (!entry)
    errors.add(base.place,
               fmt::format("`{}.base` must be a word of the catalogue, and there is no {} \"{}\"", label, section_of<C>(), shown(base.text)),
               one_of(Catalogue::words()), errors.wants_detail() ? nearest_word(base.text, Catalogue::words()) : "");
  return entry;
}

}  // namespace odrpo
