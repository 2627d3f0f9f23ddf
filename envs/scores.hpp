// Repeated scores of a real judge: the table of a CSV file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

inline constexpr std::size_t max_scores_bytes = std::size_t{256} << 20;  ///< largest CSV, bytes
inline constexpr int max_score = 100;                                    ///< scores are whole numbers 1..max_score

inline constexpr std::string_view and_more = "… and more";  ///< the line behind the mistakes that are told

/// Scores of M responses to each of P prompts, N samples per response; N may differ between prompts, not inside one, nor may M differ
/// from the responses that stand in the file.
struct ScoreTable {
  struct Prompt {
    long long id;                     ///< prompt_id of the file
    int responses, samples;           ///< M, N
    std::vector<std::uint8_t> score;  ///< [M][N] in order of response_id and sample_id
  };
  std::vector<Prompt> prompts;  ///< in order of prompt_id
  int largest = 0, smallest = 0;
};

/// "UTF-16" or "UTF-32" for text that begins like it, with a byte order mark or without; else empty.
std::string_view wide_encoding(std::string_view text);

/// Reads `prompt_id,response_id,sample_id,score` (columns in any order, further columns ignored); lines that start with `#` are comments,
/// CRLF, a BOM, blank lines and any order of rows are accepted. Throws Failure(Exit::bad_input) with one `file:line:column: error: …` for
/// each of up to 20 mistakes: another format (UTF-16, gzip, zip), no header, a missing column, a wrong number of fields, text or a fraction
/// for a number, a score outside 1..max_score, the first score above `levels` (0 = any), a cell given twice, responses of one prompt with
/// different numbers of samples, no rows.
ScoreTable parse_scores(std::string_view text, const std::string& file, int levels = 0);

}  // namespace odrpo
