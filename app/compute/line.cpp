// Answers requests of `odrpo-bench compute`: checks the text, parses the JSON, calls the function, and writes the answer or the error.
#include "app/compute/line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/compute/functions.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/output_file.hpp"
#include "results/export/json_text.hpp"

namespace odrpo::app {
namespace {

using nlohmann::json;

constexpr int max_depth = 64;

/// Refuses JSON that is nested too deeply, before it is parsed, because the parser recurses. Counts brackets outside strings.
void check_depth(std::string_view text) {
  int depth = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\') ++i;
    else if (c == '"') inside = !inside;
    else if (!inside && (c == '[' || c == '{') && ++depth > max_depth)
      throw Refusal{"too_deep", fmt::format("more than {} nested lists or objects", max_depth)};
    else if (!inside && (c == ']' || c == '}')) --depth;
  }
}

/// True if the text is a number by JSON's grammar, also one too large for a double.
bool is_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - from;
  };
  const bool zero = text.substr(at).starts_with('0');
  if (const std::size_t whole = digits(); whole == 0 || (zero && whole > 1)) return false;
  if (text.substr(at).starts_with('.') && (++at, digits() == 0)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

/// Returns the value of the request's key `id` as it was sent, without blanks between tokens; empty if there is none. In `request`,
/// replaces numbers inside the id by 0 and blanks, since they may be too large for doubles. The parser checks everything else.
std::string take_id(std::string& request) {
  std::string id, key;
  int depth = 0;
  bool at_key = false, inside = false;  // the next string is a key of the request; this token is in the value of `id`
  for (std::size_t at = 0, end = 0; at < request.size(); at = end) {
    const char c = request[at];
    end = at + 1;
    if (c == '"') {
      while (end < request.size() && request[end] != '"') end += request[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, request.size());
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      end = std::min(request.find_first_not_of("+-.0123456789eE", at), request.size());
    }
    const std::string_view token = std::string_view(request).substr(at, end - at);
    if (depth == 1 && (c == ',' || c == '}')) inside = false, at_key = true;
    if (inside && token.find_first_not_of(" \t\r") != std::string_view::npos) id += token;
    if (depth == 1 && at_key && c == '"') key = token;
    if (depth == 1 && at_key && c == ':') inside = json::parse(key, nullptr, false) == "id", at_key = false;
    if (inside && is_number(token)) request.replace(at, end - at, '0' + std::string(end - at - 1, ' '));
    if (c == '{' || c == '[') at_key = ++depth == 1;
    if (c == '}' || c == ']') --depth;
  }
  return id;
}

/// Parses strictly: refuses invalid UTF-8, more than one value, and a key that is twice in an object.
json parse(std::string_view text) {
  check_depth(text);
  try {
    return json::parse(text, unique_keys<json>([](const std::string& key) { throw Refusal{"bad_json", fmt::format("the key \"{}\" is there twice", key)}; }));
  } catch (const json::parse_error& e) {
    throw Refusal{"bad_json", fmt::format("not JSON at byte {}", e.byte)};
  } catch (const json::out_of_range&) {
    throw Refusal{"out_of_range", "a number is beyond the range of doubles"};
  }
}

std::string answer(const json& request) {
  for (const auto& [key, value] : request.items())
    if (key != "id" && key != "fn" && key != "args")
      throw Refusal{"bad_request", fmt::format("\"{}\" is not one of id, fn, args", key.substr(0, 40))};
  if (!request.contains("fn") || !request["fn"].is_string()) throw Refusal{"bad_request", "fn: the name of a function is needed"};
  if (!request.contains("args") || !request["args"].is_object()) throw Refusal{"bad_request", "args: an object is needed"};
  return call_function(request["fn"].get_ref<const std::string&>(), request["args"]);
}

std::string refuse(const std::string& id, const std::string& code, const std::string& message) {
  // a name that was cut off may end inside a UTF-8 character
  const std::string text = json(message).dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format(R"({{"id":{},"error":{{"code":"{}","message":{}}}}})", id, code, text);
}

}  // namespace

std::string compute_line(std::string_view text) {
  std::string id = "null";
  try {
    if (text.size() > max_compute_line) throw Refusal{"too_large", "a request is at most 16 MiB"};
    std::string line(text);
    const std::string sent = take_id(line);
    const json request = parse(line);
    if (!request.is_object()) throw Refusal{"bad_request", "a request is an object with id, fn and args"};
    if (request.contains("id")) id = sent;
    return fmt::format(R"({{"id":{},"out":{}}})", id, answer(request));
  } catch (const Refusal& r) {
    return refuse(id, r.code, r.message);
  } catch (const Failure& f) {
    return refuse(id, "too_large", f.what());
  } catch (const std::bad_alloc&) {
    return refuse(id, "too_large", "out of memory");
  } catch (const std::exception& e) {
    return refuse(id, "internal", e.what());
  }
}

// Runs `odrpo-bench compute`: reads JSON lines from stdin, and writes JSON lines to stdout.

namespace {

constexpr std::size_t chunk = std::size_t{1} << 16;

/// Splits a stream of bytes into lines, and answers each. Drops the bytes of a line that is too long, so that it takes no memory.
class Lines {
 public:
  void feed(std::string_view bytes, std::string& answers) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      if (line_.size() + part.size() > max_compute_line) too_long_ = true, line_.clear();
      if (!too_long_) line_ += part;
      if (end == std::string_view::npos) return;
      finish(answers);
      bytes.remove_prefix(end + 1);
    }
  }

  void finish(std::string& answers) {
    if (too_long_)
      answers += R"({"id":null,"error":{"code":"too_large","message":"a request is at most 16 MiB"}})"
                 "\n";
    else if (line_.find_first_not_of(" \t\r") != std::string::npos) answers += compute_line(line_) + '\n';
    line_.clear();
    too_long_ = false;
  }

 private:
  std::string line_;
  bool too_long_ = false;
};

}  // namespace

int compute_stream(int input, int output) {
  Lines lines;
  std::string bytes(chunk, '\0'), answers;
  for (;;) {
    const ssize_t n = ::read(input, bytes.data(), chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return static_cast<int>(Exit::io);
    if (n == 0) lines.finish(answers);
    else lines.feed(std::string_view(bytes).substr(0, static_cast<std::size_t>(n)), answers);
    if (!write_fully(output, answers)) return static_cast<int>(Exit::io);
    answers.clear();
    if (n == 0) return static_cast<int>(Exit::ok);
  }
}

int compute() {
  const int code = compute_stream(STDIN_FILENO, STDOUT_FILENO);
  if (code != static_cast<int>(Exit::io) || errno == EPIPE) return code;  // no message where the reader of stdout has closed the pipe
  throw Failure(Exit::io, std::string("cannot read standard input or write standard output: ") + std::strerror(errno));
}

}  // namespace odrpo::app
