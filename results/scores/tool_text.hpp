// Parses the JSON of files that tools write, and reads ids and scores of its values.
#pragma once
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
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

/// A member at a path of keys; null where one of them lacks.
const Json& member(const Json& json, std::initializer_list<const char*> path);

/// Text of a scalar, of 82.0 "82"; of other values their JSON, of null nothing.
std::string text_of(const Json& json);

/// The score that a value is: numbers as they are, true and false 1 and 0, null blank, texts as they are.
std::string score_of(const Json& json);

/// An id for a text: 16 hexadecimal digits (FNV-1a). "t" in front keeps it a text.
std::string id_of(std::string_view text);

}  // namespace odrpo
