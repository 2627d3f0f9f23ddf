// Implements json_cells.hpp.
#include "results/scores/rollouts/json_cells.hpp"

#include <algorithm>

namespace odrpo {

std::uint32_t words_of(std::string_view text) {
  std::uint32_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xE3) ++words, inside = true;  // the first byte of a character from U+3000 on
    else if (byte == ' ' || (byte >= '\t' && byte <= '\r')) inside = false;
    else if (!inside && byte < 0x80) ++words, inside = true;
    else if (!inside && byte >= 0xC0) ++words, inside = true;
  }
  return words;
}

std::size_t ObjectReader::find(std::string_view key) {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].name == key) return i;
  if (slots_.size() >= most_slots) return none;
  slots_.emplace_back().name = key;
  return slots_.size() - 1;
}

std::size_t ObjectReader::slot(std::string_view key, unsigned use) {
  const std::size_t at = find(key);
  slots_[at].use |= use;
  for (auto point = key.find('.'); point != std::string_view::npos; point = key.find('.', point + 1)) slots_[find(key.substr(0, point))].parent = true, paths_ = true;
  return at;
}

std::vector<std::string> ObjectReader::keys() const {
  std::vector<std::string> keys;
  for (const std::size_t i : order_) keys.push_back(slots_[i].name);
  return keys;
}

void ObjectReader::reset() {
  ++object_;
  std::swap(order_, order_before_);
  order_.clear(), parents_.clear(), twice.clear();
  current_ = none, depth_ = value_depth_ = 0, error_at = 0, is_object_ = content_ = false;
}

bool ObjectReader::read(std::string_view item) {
  reset();
  if (json::sax_parse(item.begin(), item.end(), this)) return is_object_;
  const std::size_t place = error_at;
  if (item.find("NaN") == std::string_view::npos && item.find("Infinity") == std::string_view::npos) return false;
  const std::string plain = without_bare(without_bare(item, {"-NaN", "NaN"}), {"-Infinity", "Infinity"}, "\"Infinity\"");
  reset();
  if (json::sax_parse(plain.begin(), plain.end(), this)) return is_object_;
  error_at = place;
  return false;
}

bool ObjectReader::key(std::string& k) {
  if (depth_ == 1) {  // objects of a file have the same keys in the same order, as a rule
    const std::size_t n = order_.size();
    const bool usual = n < order_before_.size() && slots_[order_before_[n]].name == k;
    current_ = usual ? order_before_[n] : find(k);
    value_depth_ = 1;
    if (current_ == none) return true;
    order_.push_back(current_);
  } else if (paths_ && parents_.size() == depth_ && parents_.back() != none) {
    current_ = find(slots_[parents_.back()].name + "." + k);
    value_depth_ = depth_;
    if (current_ == none) return true;
  } else {
    content_ = current_ != none && (slots_[current_].use & kept_words) != 0 && k == "content";
    if (current_ != none && (slots_[current_].use & kept_hash) != 0) slots_[current_].cell.hash = hash_of(k, hash_of("\"", slots_[current_].cell.hash));
    return true;
  }
  Slot& slot = slots_[current_];
  if (slot.object == object_ && twice.empty()) twice = slot.name;
  slot.object = object_;
  slot.cell.kind = DumpCell::Kind::null, slot.cell.whole = slot.cell.differ = false, slot.cell.number = 0, slot.cell.count = slot.cell.numbers = slot.cell.other_than_0 = slot.cell.words = 0;
  if (slot.use & kept_inside) slot.cell.text.clear();
  slot.cell.hash = empty_hash;
  return true;
}

bool ObjectReader::scalar(DumpCell::Kind kind, double number, std::string_view text) {
  if (current_ == none) return true;
  Slot& slot = slots_[current_];
  DumpCell& cell = slot.cell;
  if (depth_ == value_depth_) {
    cell.kind = kind, cell.number = number;
    if (slot.use != 0) {
      if (slot.use & (kind == DumpCell::Kind::text ? kept_text : kept_digits)) cell.text = text;
      else cell.text.clear();
      if (slot.use & kept_hash) cell.hash = hash_of(text);
      if (slot.use & kept_words) cell.words = kind == DumpCell::Kind::text ? words_of(text) : 0;
    }
    return true;
  }
  cell.count += depth_ == value_depth_ + 1;
  if (kind == DumpCell::Kind::number) {
    ++cell.numbers, cell.other_than_0 += number != 0;
    if (cell.number == 0) cell.number = number;
    else if (number != 0 && number != cell.number) cell.differ = true;
  }
  if (kind == DumpCell::Kind::text && slot.use & kept_inside) cell.text += text;
  if (slot.use & kept_hash) cell.hash = hash_of(text, hash_of(kind == DumpCell::Kind::text ? "'" : ",", cell.hash));
  if (content_ && kind == DumpCell::Kind::text) cell.words += words_of(text);
  return true;
}

bool ObjectReader::open(DumpCell::Kind kind, std::string_view mark) {
  if (depth_ == 0) is_object_ = kind == DumpCell::Kind::object;
  if (current_ != none) {
    Slot& slot = slots_[current_];
    if (depth_ == value_depth_) {
      slot.cell.kind = kind;
      if (paths_) parents_.resize(depth_, none), parents_.push_back(kind == DumpCell::Kind::object && slot.parent ? current_ : none);
    } else {
      slot.cell.count += depth_ == value_depth_ + 1;
    }
    if (slot.use & kept_hash) slot.cell.hash = hash_of(mark, slot.cell.hash);
  }
  ++depth_;
  return true;
}

bool ObjectReader::close(std::string_view mark) {
  --depth_;
  if (paths_ && parents_.size() > depth_) parents_.resize(depth_);
  if (current_ != none && depth_ > 0 && (slots_[current_].use & kept_hash)) slots_[current_].cell.hash = hash_of(mark, slots_[current_].cell.hash);
  if (depth_ <= value_depth_) {
    content_ = false;
    if (depth_ < value_depth_) current_ = none, value_depth_ = depth_;
  }
  return true;
}

bool ObjectReader::parse_error(std::size_t place, const std::string&, const json::exception&) {
  error_at = std::max<std::size_t>(place, 1);
  return false;
}

}  // namespace odrpo
