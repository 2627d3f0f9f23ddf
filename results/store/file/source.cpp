// Checks links, layouts, filters, types and sizes of an untrusted HDF5 file, and reads its data sets.
#include <algorithm>
#include <memory>
#include <new>

#include "results/store/file/layout.hpp"
#include "results/store/file/read.hpp"

namespace odrpo::store {
namespace {

Hid open_object(hid_t parent, const std::string& name) {
  if (!has_link(parent, name)) throw Hdf5Error("'" + name + "' is missing");
  return {H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose, "object " + name};
}

Hid open_dataset(hid_t parent, const std::string& name) {
  Hid object = open_object(parent, name);
  if (H5Iget_type(object) != H5I_DATASET) throw Hdf5Error("'" + name + "' is not a data set");
  return object;
}

struct Links {
  std::vector<std::string> names;
  std::string refused;
};

herr_t collect(hid_t, const char* name, const H5L_info_t* info, void* data) {
  auto& links = *static_cast<Links*>(data);
  try {  // no exception may pass through HDF5
    if (info->type != H5L_TYPE_HARD) links.refused = name;
    else links.names.emplace_back(name);
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return links.refused.empty() && links.names.size() <= max_objects ? 0 : 1;
}

void check_layout(hid_t list, const std::string& name, std::size_t element) {
  const H5D_layout_t layout = H5Pget_layout(list);
  if (layout == H5D_VIRTUAL) throw Hdf5Error("'" + name + "' is a virtual data set");
  if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED && layout != H5D_COMPACT) throw Hdf5Error("'" + name + "' has an unknown layout");
  if (H5Pget_external_count(list) != 0) throw Hdf5Error("'" + name + "' keeps its data in another file");
  const int filters = H5Pget_nfilters(list);
  if (filters < 0 || filters > 8) throw Hdf5Error("'" + name + "' has too many filters");
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(list, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
      throw Hdf5Error("'" + name + "' uses filter " + std::to_string(filter) + "; only deflate, shuffle and fletcher32 are read");
  }
  if (layout == H5D_CHUNKED) {
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(list, H5S_MAX_RANK, chunk);
    unsigned long long bytes = element;
    for (int d = 0; d < rank; ++d) {
      if (chunk[d] == 0 || chunk[d] > max_chunk_bytes) throw Hdf5Error("'" + name + "' has chunks of a refused size");
      bytes *= chunk[d];
      if (bytes > max_chunk_bytes) throw Hdf5Error("'" + name + "' has chunks of a refused size");
    }
  }
}

/// Memory for the variable-length strings of one read. Its size is bounded by the budget, and it is freed even after an error.
struct Arena {
  Budget& budget;
  std::vector<std::unique_ptr<char[]>> blocks;
  bool refused = false;
  static void* take(std::size_t size, void* self) {
    auto& arena = *static_cast<Arena*>(self);
    constexpr std::size_t overhead = 32;  // for a block, and for the copy that becomes a std::string
    if (2 * size + overhead > arena.budget.left) {
      arena.refused = true;
      return nullptr;
    }
    arena.budget.left -= 2 * size + overhead;
    try {  // no exception may pass through HDF5
      arena.blocks.push_back(std::make_unique<char[]>(size + 1));
    } catch (const std::bad_alloc&) {
      return arena.refused = true, nullptr;
    }
    return arena.blocks.back().get();
  }
  static void give(void*, void*) {}
};

}  // namespace

void Budget::charge(unsigned long long bytes, const std::string& what) {
  if (bytes > left) throw TooLarge("'" + what + "' needs more memory than is allowed");
  left -= bytes;
}

bool has_link(hid_t group, const std::string& name) {
  const htri_t there = H5Lexists(group, name.c_str(), H5P_DEFAULT);
  need(there < 0 ? -1 : 0, "link " + name);
  if (there == 0) return false;
  H5L_info_t info;
  need(H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT), "link " + name);
  if (info.type != H5L_TYPE_HARD) throw Hdf5Error("'" + name + "' is a soft or external link");
  return true;
}

std::vector<std::string> link_names(hid_t group, const std::string& what) {
  H5G_info_t info;
  need(H5Gget_info(group, &info), "group " + what);
  if (info.nlinks > max_objects) throw Hdf5Error("'" + what + "' has more than " + std::to_string(max_objects) + " objects");
  const Hid list(H5Gget_create_plist(group), H5Pclose, "group " + what);
  unsigned order = 0;
  need(H5Pget_link_creation_order(list, &order), "group " + what);
  Links links;
  hsize_t position = 0;
  need(H5Literate(group, (order & H5P_CRT_ORDER_TRACKED) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, &position, collect, &links),
       "links of " + what);
  if (!links.refused.empty()) throw Hdf5Error("'" + links.refused + "' is a soft or external link");
  if (links.names.size() > max_objects) throw Hdf5Error("'" + what + "' has too many objects");
  return links.names;
}

Hid open_group(hid_t parent, const std::string& name) {
  Hid object = open_object(parent, name);
  if (H5Iget_type(object) != H5I_GROUP) throw Hdf5Error("'" + name + "' is not a group");
  return object;
}

Source::Source(hid_t parent, const std::string& name)
    : name_(name), dataset_(open_dataset(parent, name)), type_(H5Dget_type(dataset_), H5Tclose, "type of " + name) {
  const Hid list(H5Dget_create_plist(dataset_), H5Pclose, "data set " + name);
  const std::size_t element = H5Tget_size(type_);
  if (element == 0 || element > 64) throw Hdf5Error("'" + name + "' has elements of a refused type");
  check_layout(list, name, element);
  const Hid extent(H5Dget_space(dataset_), H5Sclose, "shape of " + name);
  if (H5Sget_simple_extent_type(extent) == H5S_NULL) throw Hdf5Error("'" + name + "' is empty");
  const int rank = H5Sget_simple_extent_ndims(extent);
  if (rank < 0 || rank > 3) throw Hdf5Error("'" + name + "' has " + std::to_string(rank) + " dimensions");
  shape_.resize(static_cast<std::size_t>(rank));
  need(H5Sget_simple_extent_dims(extent, shape_.data(), nullptr), "shape of " + name);
  for (hsize_t n : shape_) {
    if (n > 0 && count_ > max_bytes / n) throw Hdf5Error("'" + name + "' claims a refused size");
    count_ *= n;
  }
  stored_ = H5Dget_storage_size(dataset_);
  if (count_ * element > stored_ * max_ratio) throw Hdf5Error("'" + name + "' claims more data than the file holds");
}

void Source::expect(const std::vector<hsize_t>& shape) const {
  if (shape_ != shape) throw Hdf5Error("'" + name_ + "' does not have the length of its dimensions");
}

bool Source::is_text() const { return H5Tget_class(type_) == H5T_STRING && H5Tis_variable_str(type_) > 0; }
bool Source::is(hid_t type) const { return H5Tequal(type_, type) > 0; }

const char* Source::word() const {
  if (is_text()) return text_word;
  for (const ElementType& type : {int32_type(), int64_type(), double_type(), float_type()})
    if (is(type.stored)) return type.word;
  throw Hdf5Error("'" + name_ + "' has the wrong type");
}

unsigned long long Source::row_count() const { return shape_.empty() || shape_[0] == 0 ? count_ : count_ / shape_[0]; }

hsize_t Source::rows_of_slab() const {
  const unsigned long long row = std::max<unsigned long long>(1, row_count()) * (is_text() ? 64 : H5Tget_size(type_));
  return std::clamp<unsigned long long>(slab_bytes / row, 1, 1 << 17);
}

void Source::read_rows(hid_t memory, Rows rows, hid_t transfer, void* to) const {
  const std::string what = "reading '" + name_ + "' (damaged?)";
  if (rows.from == 0 && rows.count == all().count) return need(H5Dread(dataset_, memory, H5S_ALL, H5S_ALL, transfer, to), what);
  std::vector<hsize_t> start(shape_.size(), 0), extent = shape_;
  start[0] = rows.from;
  extent[0] = rows.count;
  const Hid in_file(H5Dget_space(dataset_), H5Sclose, what), in_memory = space(extent);
  need(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr), what);
  need(H5Dread(dataset_, memory, in_memory, in_file, transfer, to), what);
}

template <class T>
std::vector<T> Source::read(hid_t stored, hid_t memory, Rows rows, Budget& budget) const {
  if (!is(stored)) throw Hdf5Error("'" + name_ + "' has the wrong type");
  const unsigned long long bytes = rows.count * row_count() * sizeof(T);
  budget.charge(bytes, name_);
  std::vector<T> values(rows.count * row_count());
  if (!values.empty()) read_rows(memory, rows, H5P_DEFAULT, values.data());
  budget.give_back(bytes);
  return values;
}

std::vector<std::int32_t> Source::int32s(Rows rows, Budget& budget) const {
  return read<std::int32_t>(H5T_STD_I32LE, H5T_NATIVE_INT32, rows, budget);
}
std::vector<std::int64_t> Source::int64s(Rows rows, Budget& budget) const {
  return read<std::int64_t>(is(H5T_STD_I32LE) ? H5T_STD_I32LE : H5T_STD_I64LE, H5T_NATIVE_INT64, rows, budget);
}
std::vector<double> Source::doubles(Rows rows, Budget& budget) const {
  return read<double>(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rows, budget);
}
std::vector<float> Source::floats(Rows rows, Budget& budget) const {
  return read<float>(H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, rows, budget);
}

std::vector<std::string> Source::texts(Rows rows, Budget& budget) const {
  if (!is_text()) throw Hdf5Error("'" + name_ + "' is not text");
  const unsigned long long count = rows.count * row_count(), bytes = count * (sizeof(std::string) + sizeof(char*)), before = budget.left;
  budget.charge(bytes, name_);
  const Hid list = text_transfer();
  Arena arena{budget, {}};
  need(H5Pset_vlen_mem_manager(list, Arena::take, &arena, Arena::give, &arena), "string memory");
  std::vector<char*> pointers(count, nullptr);
  try {
    if (count > 0) read_rows(type_, rows, list, pointers.data());
  } catch (const Hdf5Error&) {
    if (arena.refused) throw TooLarge("'" + name_ + "' needs more memory than is allowed");
    throw;
  }
  std::vector<std::string> texts;
  texts.reserve(count);
  for (const char* p : pointers) texts.emplace_back(p ? p : "");
  budget.left = before;
  return texts;
}

void Source::add_to(ContentSum& sum, Rows rows, Budget& budget) const {
  const auto add = [&](const auto& values) { sum.numbers(values.data(), values.size() * sizeof values[0]); };
  if (is_text())
    for (const std::string& text : texts(rows, budget)) sum.text(text);
  else if (is(H5T_IEEE_F64LE)) add(doubles(rows, budget));
  else if (is(H5T_IEEE_F32LE)) add(floats(rows, budget));
  else if (is(H5T_STD_I32LE)) add(int32s(rows, budget));
  else add(int64s(rows, budget));
}

std::string Source::attribute(const std::string& name) const { return text_attribute(dataset_, name); }

std::string text_attribute(hid_t object, const std::string& name) {
  const htri_t there = H5Aexists(object, name.c_str());
  need(there < 0 ? -1 : 0, "attribute " + name);
  if (there == 0) return "";
  const Hid attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "attribute " + name);
  const Hid type(H5Aget_type(attribute), H5Tclose, "attribute " + name);
  const Hid extent(H5Aget_space(attribute), H5Sclose, "attribute " + name);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(extent) != 1)
    throw Hdf5Error("attribute '" + name + "' is not one text");
  char* text = nullptr;
  need(H5Aread(attribute, type, &text), "attribute " + name);
  const std::string copy = text ? text : "";
  H5free_memory(text);
  return copy;
}

long long integer_attribute(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) throw Hdf5Error("attribute '" + name + "' is missing");
  const Hid attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "attribute " + name);
  const Hid type(H5Aget_type(attribute), H5Tclose, "attribute " + name);
  const Hid extent(H5Aget_space(attribute), H5Sclose, "attribute " + name);
  if (H5Tequal(type, H5T_STD_I64LE) <= 0 || H5Sget_simple_extent_npoints(extent) != 1)
    throw Hdf5Error("attribute '" + name + "' is not one 64-bit integer");
  long long value = 0;
  need(H5Aread(attribute, H5T_NATIVE_LLONG, &value), "attribute " + name);
  return value;
}

}  // namespace odrpo::store
