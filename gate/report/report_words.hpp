// Words and numbers that the forms of a gate's report share.
#pragma once
#include <string>
#include <string_view>

#include "gate/report/report.hpp"

namespace odrpo {

/// One printable line of at most `width` columns; what is too long loses its middle. Hostile text in, harmless text out.
std::string short_text(std::string_view text, std::size_t width);

/// Lines without what a CI system takes for a command of its own: at the beginning of a line ("::stop-commands::x") or in it ("##[error]",
/// "##vso[…]").
std::string without_ci_commands(std::string text);

/// JSON, in whose texts such words are escaped.
std::string ci_safe_json(std::string json);

std::string verdict_word(const GateReport& report,
                         std::size_t i);  ///< "slower"; "counts" where time was not measured and counts changed, else "-"
/// Why a case fails: its verdict's word, or "counts"; empty where it does not.
std::string failure_word(const GateReport& report, std::size_t i);
std::string ratio_text(const GateEstimate& estimate);     ///< "1.052"; "1.23e+04"
std::string interval_text(const GateEstimate& estimate);  ///< "[1.043, 1.061]"
std::string checksum_text(const std::string& checksum);   ///< at most 20 columns; "none"
std::string count_text(const GateCount& count);           ///< "instructions +3.1 % (1,234 to 1,272)"
/// One line that says why the case has its verdict: "slower: 1.052 [1.043, 1.061] times the baseline's time, limit 1.01". Printable.
std::string case_sentence(const GateReport& report, std::size_t i);
/// "1 of 24 cases slower, 1 different (exit 10)"
std::string outcome_text(const GateReport& report);
/// "kind worker, limit 1 %, fails on slower, different"
std::string rules_text(const GateReport& report);
/// How many cases and blocks, and what intervals are.
std::string intervals_sentence(const GateReport& report);

}  // namespace odrpo
