// Writes small HDF5 objects: groups, data sets, strings, attributes, dimension scales. Stores no time stamps and keeps creation order.
#include "results/store/file/hdf5.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/shared/words.hpp"

namespace odrpo::store {
namespace {

void keep_order(hid_t list) {
  need(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "link order");
  need(H5Pset_obj_track_times(list, false), "object times");
}

constexpr std::size_t chunk_bytes = 256 * 1024;

/// Returns a shape for HDF5 chunks of about 256 KiB, of whole rows of the data set where possible.
std::vector<hsize_t> chunk_shape(std::span<const hsize_t> shape, std::size_t element) {
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  hsize_t room = std::max<hsize_t>(1, chunk_bytes / element);
  for (std::size_t d = chunk.size(); d-- > 0;) {
    chunk[d] = std::max<hsize_t>(1, std::min(chunk[d], room));
    room = std::max<hsize_t>(1, room / chunk[d]);
  }
  return chunk;
}

Hid fixed_string(std::size_t size) {
  Hid type(H5Tcopy(H5T_C_S1), H5Tclose, "string type");
  need(H5Tset_size(type, size), "string size");
  return type;
}

Hid write_attribute(hid_t object, const std::string& name, hid_t type, std::span<const hsize_t> shape, const void* data) {
  Hid attribute(H5Acreate2(object, name.c_str(), type, space(shape), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "attribute " + name);
  need(H5Awrite(attribute, type, data), "attribute " + name);
  return attribute;
}

}  // namespace

void quiet() {
  H5dont_atexit();  // HDF5's exit handlers crash on files that could not be written; our code closes every file itself
  H5open();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

void need(herr_t status, const std::string& what) {
  if (status < 0) throw Hdf5Error("HDF5 refused: " + what);
}

Hid string_type() {
  Hid type = fixed_string(H5T_VARIABLE);
  need(H5Tset_cset(type, H5T_CSET_UTF8), "UTF-8");
  return type;
}

Hid text_transfer() {
  Hid list(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "transfer list");
  need(H5Pset_buffer(list, 16384, nullptr, nullptr), "buffer size");
  return list;
}

Hid space(std::span<const hsize_t> shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose, "scalar"};
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, "shape"};
}

Hid make_group(hid_t parent, const std::string& name) {
  Hid list(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "group list");
  keep_order(list);
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose, "group " + name};
}

Hid make_dataset(hid_t parent, const std::string& name, hid_t type, std::span<const hsize_t> shape, bool packed, const void* fill) {
  Hid list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "data set list");
  need(H5Pset_obj_track_times(list, false), "object times");
  need(H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "attribute order");
  if (packed) {
    const auto chunk = chunk_shape(shape, H5Tget_size(type));
    need(H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data()), "chunks");
    need(H5Pset_shuffle(list), "shuffle");
    need(H5Pset_deflate(list, 4), "deflate");
    need(H5Pset_fletcher32(list), "fletcher32");
  }
  if (fill) need(H5Pset_fill_value(list, type, fill), "fill value");
  const Hid access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "data set access list");
  if (packed) need(H5Pset_chunk_cache(access, 101, chunk_bytes + 4096, 1.0), "chunk cache");  // room for the chunk that rows are added to
  Hid dataset(H5Dcreate2(parent, name.c_str(), type, space(shape), H5P_DEFAULT, list, access), H5Dclose, "data set " + name);
  const hsize_t one[] = {1};
  if (fill) write_attribute(dataset, "_FillValue", type, one, fill);
  return dataset;
}

Hid write_text(hid_t parent, const std::string& name, const std::string& text) {
  const Hid type = string_type();
  Hid dataset = make_dataset(parent, name, type, {});
  const char* pointer = text.c_str();
  need(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, text_transfer(), &pointer), "writing '" + name + "'");
  return dataset;
}

ElementType int32_type() { return {H5T_STD_I32LE, H5T_NATIVE_INT32, "<i4"}; }
ElementType int64_type() { return {H5T_STD_I64LE, H5T_NATIVE_INT64, "<i8"}; }
ElementType double_type() { return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, "<f8"}; }
ElementType float_type() { return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, "<f4"}; }

ContentSum::ContentSum(const char* word, std::span<const hsize_t> shape) {
  std::string head = word;
  head += '\0';
  head += joined(shape, [](hsize_t size) { return std::to_string(size); }, ",") + '\0';
  sum_.add(head);
}

void ContentSum::text(std::string_view text) {
  sum_.add(text);
  sum_.add(std::string_view("\0", 1));
}

SlabWriter::SlabWriter(hid_t parent, const std::string& name, ElementType type, std::vector<hsize_t> shape, bool packed, const void* fill)
    : shape_(std::move(shape)),
      memory_(type.memory),
      row_bytes_(H5Tget_size(type.memory)),
      text_type_(string_type()),
      dataset_(make_dataset(parent, name, type.stored, shape_, packed, fill)),
      sum_(type.word, shape_) {
  for (std::size_t d = 1; d < shape_.size(); ++d) row_bytes_ *= shape_[d];
}

SlabWriter::SlabWriter(hid_t parent, const std::string& name, std::vector<hsize_t> shape)
    : shape_(std::move(shape)),
      memory_(H5I_INVALID_HID),
      text_type_(string_type()),
      dataset_(make_dataset(parent, name, text_type_, shape_)),
      sum_(text_word, shape_) {}

void SlabWriter::rows(const void* data, std::size_t count) {
  write(memory_, data, count);
  sum_.numbers(data, count * row_bytes_);
}

void SlabWriter::rows(std::span<const std::string> texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(text.c_str());
    sum_.text(text.c_str());  // HDF5 stores a text up to its first NUL
  }
  write(text_type_, pointers.data(), texts.size());
}

void SlabWriter::write(hid_t memory_type, const void* data, hsize_t count) {
  if (count == 0) return;
  std::vector<hsize_t> start(shape_.size(), 0), extent = shape_;
  start[0] = next_;
  extent[0] = count;
  const Hid in_file = space(shape_), in_memory = space(extent);
  need(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr), "rows of a data set");
  need(H5Dwrite(dataset_, memory_type, in_memory, in_file, text_transfer(), data), "writing a data set");
  next_ += count;
}

std::string SlabWriter::finish() {
  const std::string sum = sum_.hex();
  set_attribute(dataset_, content_sum_name, sum);
  return sum;
}

void set_attribute(hid_t object, const std::string& name, const std::string& text) {
  const char* pointer = text.c_str();
  write_attribute(object, name, string_type(), {}, &pointer);
}

void set_attribute(hid_t object, const std::string& name, long long value) { write_attribute(object, name, H5T_STD_I64LE, {}, &value); }

std::size_t Scales::add(hid_t dataset, const std::string& name) {
  const char kind[] = "DIMENSION_SCALE";
  write_attribute(dataset, "CLASS", fixed_string(sizeof kind), {}, kind);
  write_attribute(dataset, "NAME", fixed_string(name.size() + 1), {}, name.c_str());
  hobj_ref_t reference{};
  need(H5Rcreate(&reference, dataset, ".", H5R_OBJECT, -1), "reference to scale " + name);
  need(H5Iinc_ref(dataset) < 0 ? -1 : 0, "scale " + name);
  scales_.push_back({Hid(dataset, H5Dclose, "scale " + name), reference, {}});
  return scales_.size() - 1;
}

void Scales::attach(hid_t dataset, std::span<const std::size_t> scales) {
  std::vector<hvl_t> lists;
  for (std::size_t s : scales) lists.push_back({1, &scales_[s].reference});
  const Hid type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose, "reference list");
  const hsize_t rank[] = {lists.size()};
  write_attribute(dataset, "DIMENSION_LIST", type, rank, lists.data());
  hobj_ref_t reference{};
  need(H5Rcreate(&reference, dataset, ".", H5R_OBJECT, -1), "reference");
  for (std::size_t d = 0; d < scales.size(); ++d) scales_[scales[d]].uses.push_back({reference, static_cast<int>(d)});
}

void Scales::finish() {
  const Hid type(H5Tcreate(H5T_COMPOUND, sizeof(Use)), H5Tclose, "scale users");
  need(H5Tinsert(type, "dataset", offsetof(Use, dataset), H5T_STD_REF_OBJ), "scale users");
  need(H5Tinsert(type, "dimension", offsetof(Use, dimension), H5T_NATIVE_INT), "scale users");
  for (const Scale& scale : scales_) {
    if (scale.uses.empty()) continue;
    std::vector<char> bytes(scale.uses.size() * sizeof(Use), 0);  // zero padding, so that equal files have equal bytes
    for (std::size_t i = 0; i < scale.uses.size(); ++i) {
      std::memcpy(&bytes[i * sizeof(Use) + offsetof(Use, dataset)], &scale.uses[i].dataset, sizeof(hobj_ref_t));
      std::memcpy(&bytes[i * sizeof(Use) + offsetof(Use, dimension)], &scale.uses[i].dimension, sizeof(int));
    }
    const hsize_t count[] = {scale.uses.size()};
    write_attribute(scale.dataset, "REFERENCE_LIST", type, count, bytes.data());
  }
}

}  // namespace odrpo::store
