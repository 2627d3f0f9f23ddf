// Parses the JSON of files that tools write, and reads ids and scores of its values.
#pragma once
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/scores/decode.hpp"

namespace odrpo {

using Json = nlohmann::json;

/// An object of a file, and the line on which it begins.
struct ToolItem {
  Json json;
  long line;
};

/// The first object of a text; where no line holds it, the whole text as one. Discarded where the text is no JSON.
Json first_object(std::string_view text);

/// The objects of a text: a document, the elements of a list, or an object a line. Lists of tokens (token_ids, logprobs, …) are left out. Failure
/// bad_input with the place of what is no object, of a list that is cut off, and of objects that nest more than 512 deep.
std::vector<ToolItem> items_of(const TextView& text);
/// The same, one object after the other.
void each_item(const TextView& text, const std::function<void(ToolItem item)>& use);

/// A member at a path of keys; null where one of them lacks.
const Json& member(const Json& json, std::initializer_list<const char*> path);

/// The element of a list of one, as trainers write the batches of one row; else the value itself.
const Json& only_element(const Json& json);

/// Text of a scalar, of 82.0 "82"; of other values their JSON, of null nothing.
std::string text_of(const Json& json);

/// The score that a value is: numbers as they are, true and false 1 and 0, null blank, texts as they are.
std::string score_of(const Json& json);

/// An id for a text: 16 hexadecimal digits (FNV-1a). "t" in front keeps it a text.
std::string id_of(std::string_view text);

// What trainers write in their dumps.

/// The rollout and the output's number in verl's uid "SAMPLE_ROLLOUT_OUTPUT"; nothing for other ids.
std::optional<std::pair<std::string, long>> rollout_of(const std::string& uid);

/// Bytes that both texts begin with.
std::size_t common_beginning(std::string_view a, std::string_view b);

/// The size of groups of rows that follow each other and whose texts begin with that of their prompt, as NeMo RL writes them. `common`: [rows - 1] bytes that
/// each row has in common with the next one. Rows of two groups have less in common than the rows of each of them; of several sizes for which that holds, the one
/// for which they have least. 0 where there is none.
std::size_t size_by_common_beginning(std::span<const std::size_t> common);

}  // namespace odrpo
