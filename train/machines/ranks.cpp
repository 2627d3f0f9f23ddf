// Writes messages between ranks as bytes, and reads them; all ranks run one build.
#include "train/machines/ranks.hpp"

#include <cstring>
#include <type_traits>

#include "kernels/system/fail.hpp"

namespace odrpo {
namespace {

struct Writer {
  std::string bytes;
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(const T& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void operator()(const std::string& text) {
    (*this)(std::uint64_t{text.size()});
    bytes += text;
  }
  template <class T>
  void operator()(const std::vector<T>& items) {
    (*this)(std::uint64_t{items.size()});
    for (const T& item : items) (*this)(item);
  }
};

struct Scanner {
  const char* at;
  std::size_t left;
  void raw(void* to, std::size_t size) {
    if (size > left) fail(Exit::internal, "a message between ranks is cut");
    if (size > 0) std::memcpy(to, at, size);
    at += size, left -= size;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(T& value) { raw(&value, sizeof value); }
  std::size_t length() {
    std::uint64_t count = 0;
    (*this)(count);
    if (count > left) fail(Exit::internal, "a message between ranks is cut");
    return count;
  }
  void operator()(std::string& text) {
    text.resize(length());
    raw(text.data(), text.size());
  }
  template <class T>
  void operator()(std::vector<T>& items) {
    items.resize(length());
    for (T& item : items) (*this)(item);
  }
};

template <class Message, class Each>
void each_field(Message& m, Each& each) {
  each(m.kind), each(m.code), each(m.text), each(m.host), each(m.weight), each(m.runs), each(m.others);
  each(m.trained), each(m.failed), each(m.committed), each(m.saved), each(m.steps), each(m.by_engines);
  each(m.seconds), each(m.making), each(m.world_steps_total), each(m.world_steps_done), each(m.failures), each(m.notes);
}

}  // namespace

std::string RankMessage::bytes() const {
  Writer writer;
  each_field(*this, writer);
  return std::move(writer.bytes);
}

RankMessage RankMessage::read(const std::string& bytes) {
  Scanner scanner{bytes.data(), bytes.size()};
  RankMessage message;
  each_field(message, scanner);
  if (scanner.left != 0) fail(Exit::internal, "a message between ranks is too long");
  return message;
}

}  // namespace odrpo
