// What commands ask of a result file: its root table, or whether all of it is right. Read in a child process.
#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "kernels/failure.hpp"
#include "results/store_isolate.hpp"
#include "results/store_pack.hpp"

namespace odrpo {
namespace {

using store::exchange;

constexpr const char* always_read[] = {"env", "rater", "policy", "estimator", "votes", "seed", "status"};
constexpr std::uint64_t quickly_checked = std::uint64_t{64} << 20;  // bytes of a file of schema 1, which has no checksums but its digest

bool is_wanted(const ColumnInfo& info, const std::vector<std::string>& chosen) {
  const auto names = [&](const auto& list) { return std::find(std::begin(list), std::end(list), info.name) != std::end(list); };
  return !info.axis.empty() || names(always_read) || names(chosen);
}

/// Puts texts into codes. Columns have few different texts, or many only when the file is odd: those are counted.
class Coder {
 public:
  explicit Coder(std::size_t room) : room_(room) {}
  void add(Column& column, const std::vector<std::string>& texts) {
    auto& codes = codes_[column.name];
    for (const std::string& text : texts) {
      const auto [at, fresh] = codes.emplace(text, static_cast<std::uint32_t>(column.words.size()));
      if (fresh) {
        take(2 * text.size() + 128);
        column.words.push_back(text);
      }
      column.code.push_back(at->second);
    }
    take(texts.size() * sizeof(std::uint32_t));
  }
  void add(Column& column, const std::vector<double>& numbers) {
    take(numbers.size() * sizeof(double));
    column.number.insert(column.number.end(), numbers.begin(), numbers.end());
  }

 private:
  void take(std::size_t bytes) {
    if (bytes > room_) throw store::TooLarge("its table needs more memory than is allowed");
    room_ -= bytes;
  }
  std::size_t room_;
  std::unordered_map<std::string, std::unordered_map<std::string, std::uint32_t>> codes_;
};

}  // namespace

ResultFile read_results(const std::string& path, const ChooseColumns& choose, const ReadLimits& limits) {
  const System system = posix_system();
  const auto file = store::open_untrusted(system, path);
  ResultFile result;
  Coder coder(limits.memory_bytes / 2);
  bool first = true;
  const auto read = [&](store::Reader& reader, const store::Send& send) {
    ResultFile head = reader.head();
    const auto chosen = choose ? choose(head) : std::vector<std::string>();
    send(store::packed(head));
    if (!reader.has_checksums() && file.size <= quickly_checked && reader.digest() != head.digest)
      throw store::Hdf5Error("its numbers do not have its digest");
    for (std::uint32_t c = 0; c < head.all.size(); ++c) {
      if (!is_wanted(head.all[c], chosen)) continue;
      const auto sent = [&](auto values) {
        store::Pack pack;
        exchange(pack, c);
        exchange(pack, values);
        send(pack.bytes);
      };
      reader.column(head.all[c].name, [&](const std::vector<double>& numbers) { sent(numbers); },
                    [&](const std::vector<std::string>& texts) { sent(texts); });
    }
  };
  const auto receive = [&](std::string_view frame) {
    store::Unpack unpack{frame};
    if (std::exchange(first, false)) return exchange(unpack, result);
    std::uint32_t c = 0;
    exchange(unpack, c);
    if (c >= result.all.size()) throw store::Hdf5Error("the reader broke off");
    const ColumnInfo& info = result.all[c];
    if (result.columns.empty() || result.columns.back().name != info.name) {
      Column& fresh = result.columns.emplace_back();
      static_cast<ColumnInfo&>(fresh) = info;
      (info.numeric ? fresh.number.reserve(result.runs) : fresh.code.reserve(result.runs));
    }
    Column& column = result.columns.back();
    if (info.numeric) {
      std::vector<double> numbers;
      exchange(unpack, numbers);
      coder.add(column, numbers);
    } else {
      std::vector<std::string> texts;
      exchange(unpack, texts);
      coder.add(column, texts);
    }
  };
  try {
    store::in_child(file, limits, read, receive);
  } catch (const store::TooLarge& error) {
    throw Failure(Exit::limits, "reading " + store::quoted(path) + ": " + error.what() + "; --max-memory raises the limit");
  }
  return result;
}

Verification verify_results(const std::string& path, const ReadLimits& limits) {
  const System system = posix_system();
  return store::verify(store::open_untrusted(system, path), limits);
}

}  // namespace odrpo
