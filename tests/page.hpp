// Compares what a test makes with golden pages: text files in tests/, read whole and made anew by one command.
#pragma once
#include <functional>
#include <string>

/// Fails unless PAGE, a path below tests/, holds exactly this text; prints where they first differ. With ODRPO_UPDATE_PAGES in the environment it
/// writes the page instead: `cmake --build BUILD --target update_pages` sets it for all cases with the tag [pages].
void check_page(const std::string& page, const std::string& text);

/// The same for a page of cases, each of them `=== NAME`, the lines of its input, `---` and what `answer` makes of them, also lines. To add a case,
/// write its name and input and update the pages. Lines before the first case are a comment.
void check_cases(const std::string& page, const std::function<std::string(const std::string& input)>& answer);

/// The text with ten digits of numbers that have more than twelve: the last bits of statistics depend on the mathematical library.
std::string rounded(const std::string& text);
