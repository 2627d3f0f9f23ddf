// The root table on its way from the process that reads a file to the one that wants it: its head first, then slabs of columns. Private to
// results/store/.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/store.hpp"
#include "results/store/file/isolate.hpp"

namespace odrpo::store {

/// Sends the head and the columns that `choose` names. Throws what the reader throws, and what `choose` throws.
void send_table(Reader& reader, const ChooseColumns& choose, const Send& send);

/// Puts frames together again. Texts become codes; an odd file may have very many different ones, which are counted.
class TableReceiver {
 public:
  /// At most `room` bytes of columns: TooLarge otherwise.
  explicit TableReceiver(std::size_t room) : room_(room) {}
  /// Throws Hdf5Error for what send_table() does not send.
  void take(std::string_view frame);
  ResultFile result;

 private:
  Column& column(std::uint32_t number);
  void add(Column& column, const std::vector<std::string>& texts);
  void add(Column& column, const std::vector<double>& numbers);
  void charge(std::size_t bytes);
  std::size_t room_;
  bool has_head_ = false;
  std::map<std::string, std::uint32_t> codes_;  ///< of the column that is coming; a hash table could be made slow by the file
};

}  // namespace odrpo::store
