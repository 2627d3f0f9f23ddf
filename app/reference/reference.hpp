// The pages of docs/reference: catalogues and descriptions as Markdown, which `odrpo-bench list --markdown PAGE` prints.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace odrpo::app {

/// The words of all pages: keys, noise, estimators, curves, functions. docs/reference/WORD.md is the committed page.
std::span<const std::string_view> reference_pages();

/// A whole page. Throws Failure(Exit::usage) with all words for a word that is none.
std::string reference_page(std::string_view page);

}  // namespace odrpo::app
