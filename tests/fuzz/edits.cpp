// The edits: data sets of other types, shapes, layouts and contents; links of every kind; attributes; texts. Uses the HDF5 API alone.
#include "tests/fuzz/edits.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "results/store_hdf5.hpp"

namespace odrpo::fuzz {
namespace {

using store::Hid;

constexpr std::size_t most_bytes = std::size_t{1} << 20;  // of one data set that is written

const char* const words[] = {"",
                             ".",
                             "..",
                             "/",
                             "run",
                             "step",
                             "stage",
                             "seconds",
                             "quality",
                             "curves",
                             "provenance",
                             "table",
                             "version",
                             "suite",
                             "formulas",
                             "raters",
                             "id",
                             "env",
                             "status",
                             "error",
                             "key",
                             "votes",
                             "seed",
                             "bandit",
                             "maxrl",
                             "estimator",
                             "learn.lr",
                             "learn_lr",
                             "final_gain",
                             "final_quality",
                             "undefined",
                             "ok",
                             "failed",
                             "complete",
                             "failed runs",
                             "none",
                             "axis",
                             "units",
                             "schema_version",
                             "result_digest",
                             "fingerprint",
                             "CLASS",
                             "NAME",
                             "DIMENSION_LIST",
                             "REFERENCE_LIST",
                             "_FillValue",
                             "Conventions",
                             "\x1b[2J",
                             "\xff\xfe",
                             "\xc3\xa9",
                             "a\nb",
                             "a\tb",
                             "\xe2\x80\xae",
                             "\xf0\x9f\x91\x8d",
                             "<b>",
                             "|",
                             ",",
                             "\"",
                             "rows = votes\ncolumns = estimator\n",
                             "rows = env\ncolumns = value\nvalue = gain,quality,seconds\n",
                             "value = undefined\nbaseline = maxrl\ncompare = percent\n",
                             "best = learn.lr\ntune_seeds = 1\nbaseline = maxrl\n",
                             "best = votes,learn.schedule\ntune_seeds = -5\n",
                             "rows = learn.schedule\ncolumns = learn.lr\n",
                             "rows = seed\ncolumns = id\n",
                             "tune_seeds = 99999999999999999999\n"};

constexpr double numbers[] = {0,
                              -1,
                              1,
                              2,
                              0.5,
                              std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::max(),
                              -1e300,
                              5e-324,
                              2147483647.0,
                              2147483648.0,
                              -2147483649.0,
                              9e15,
                              1e19};

/// Reads a program: zeros behind its end.
struct Cursor {
  std::span<const std::uint8_t> rest;
  bool more() const { return !rest.empty(); }
  unsigned byte() {
    if (rest.empty()) return 0;
    const unsigned value = rest[0];
    rest = rest.subspan(1);
    return value;
  }
  std::string bytes(std::size_t n) {
    n = std::min(n, rest.size());
    std::string text(reinterpret_cast<const char*>(rest.data()), n);
    rest = rest.subspan(n);
    return text;
  }
  std::string text() {
    switch (const unsigned kind = byte() % 8; kind) {
      case 0: return bytes(byte());
      case 1: {
        const std::string piece = bytes(1 + byte() % 8);
        std::string text;
        for (unsigned times = 1u << byte() % 17; times > 0; --times) text += piece;
        return text;
      }
      case 2: return words[byte() % std::size(words)] + text();
      default: return words[byte() % std::size(words)];
    }
  }
  double number() {
    if (const unsigned kind = byte() % 4; kind == 0) {
      const std::string raw = bytes(sizeof(double));
      double value = 0;
      std::memcpy(&value, raw.data(), raw.size());
      return value;
    } else if (kind == 1) {
      return static_cast<double>(byte());
    }
    return numbers[byte() % std::size(numbers)];
  }
};

Hid copy(hid_t type) { return {H5Tcopy(type), H5Tclose, "type"}; }
Hid list_of(hid_t kind) { return {H5Pcreate(kind), H5Pclose, "list"}; }

Hid choose_type(Cursor& from) {
  const hid_t simple[] = {H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_I64LE, H5T_IEEE_F32LE,  H5T_IEEE_F64BE, H5T_STD_I64BE,
                          H5T_STD_U64LE,  H5T_STD_I8LE,  H5T_STD_B32LE, H5T_STD_REF_OBJ, H5T_UNIX_D32LE, H5T_STD_REF_DSETREG};
  const hsize_t two[] = {2}, many[] = {1u << 16};
  switch (const unsigned kind = from.byte() % 24; kind) {
    default: return copy(simple[kind % std::size(simple)]);
    case 12:
    case 13:
    case 14: return store::string_type();
    case 15: {
      Hid type = store::string_type();
      H5Tset_cset(type, H5T_CSET_ASCII);
      return type;
    }
    case 16: {
      Hid type = copy(H5T_C_S1);
      H5Tset_size(type, 1 + from.byte());
      return type;
    }
    case 17: return {H5Tvlen_create(H5T_STD_I32LE), H5Tclose, "type"};
    case 18: return {H5Tarray_create2(H5T_IEEE_F64LE, 1, two), H5Tclose, "type"};
    case 19: return {H5Tarray_create2(H5T_STD_I8LE, 1, many), H5Tclose, "type"};
    case 20: return {H5Tcreate(H5T_OPAQUE, 8), H5Tclose, "type"};
    case 21: return {H5Tenum_create(H5T_STD_I32LE), H5Tclose, "type"};
    case 22: {
      Hid type(H5Tcreate(H5T_COMPOUND, 16), H5Tclose, "type");
      H5Tinsert(type, "a", 0, H5T_IEEE_F64LE);
      H5Tinsert(type, "b", 8, H5T_STD_I64LE);
      return type;
    }
    case 23: {
      Hid type = copy(H5T_IEEE_F64LE);
      H5Tset_precision(type, 40);
      H5Tset_fields(type, 39, 30, 9, 0, 30);
      return type;
    }
  }
}

/// What a data set holds, as far as these edits understand it.
struct Content {
  std::vector<hsize_t> shape;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  bool text = false;
  std::size_t size() const {
    std::size_t n = 1;
    for (const hsize_t length : shape) n = length > most_bytes ? most_bytes + 1 : std::min<std::size_t>(n * length, most_bytes + 1);
    return n;
  }
};

Content content_of(hid_t dataset) {
  Content content;
  const Hid type(H5Dget_type(dataset), H5Tclose, "type"), extent(H5Dget_space(dataset), H5Sclose, "extent");
  content.shape.resize(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(extent))));
  if (H5Sget_simple_extent_npoints(extent) <= 0) return content;
  H5Sget_simple_extent_dims(extent, content.shape.data(), nullptr);
  if (content.size() > most_bytes / sizeof(double)) return content;
  content.text = H5Tis_variable_str(type) > 0;
  if (content.text) {
    std::vector<char*> pointers(content.size(), nullptr);
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0) return content;
    for (const char* p : pointers) content.texts.emplace_back(p ? p : "");
    H5Dvlen_reclaim(type, extent, H5P_DEFAULT, pointers.data());
  } else if (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT) {
    content.numbers.resize(content.size());
    if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, content.numbers.data()) < 0) content.numbers.clear();
  }
  return content;
}

/// Writes numbers or texts, repeated or cut to the data set's size.
void write_content(hid_t dataset, const Content& content) {
  const Hid type(H5Dget_type(dataset), H5Tclose, "type"), extent(H5Dget_space(dataset), H5Sclose, "extent");
  const auto points = H5Sget_simple_extent_npoints(extent);
  if (points <= 0 || static_cast<std::size_t>(points) > most_bytes / sizeof(double)) return;
  const auto count = static_cast<std::size_t>(points);
  if (H5Tis_variable_str(type) > 0) {
    std::vector<const char*> pointers(count, "");
    for (std::size_t i = 0; i < count && !content.texts.empty(); ++i) pointers[i] = content.texts[i % content.texts.size()].c_str();
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data());
  } else if (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT) {
    std::vector<double> values(count, 0);
    for (std::size_t i = 0; i < count && !content.numbers.empty(); ++i) values[i] = content.numbers[i % content.numbers.size()];
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  } else if (H5Tget_class(type) != H5T_VLEN && H5Tget_class(type) != H5T_REFERENCE && H5Tget_size(type) * count <= most_bytes) {
    const std::vector<char> bytes(H5Tget_size(type) * count, 1);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  }
}

/// Changes some entries, or puts others in place of all.
void change(Content& content, Cursor& from) {
  const unsigned kind = from.byte() % 4, times = 1 + from.byte() % 3;
  if (kind == 0) return;
  if (kind == 1) content.texts.clear(), content.numbers.clear();
  for (unsigned i = 0; i < times; ++i) {
    const unsigned at = from.byte();
    if (kind == 1) content.texts.push_back(from.text()), content.numbers.push_back(from.number());
    else if (!content.texts.empty()) content.texts[at % content.texts.size()] = from.text();
    else if (!content.numbers.empty()) content.numbers[at % content.numbers.size()] = from.number();
  }
}

void choose_shape(std::vector<hsize_t>& shape, Cursor& from) {
  switch (from.byte() % 16) {
    default: return;
    case 1: return shape.clear();
    case 2: return shape.push_back(1);
    case 3: return std::reverse(shape.begin(), shape.end());
    case 4: return shape.assign(4, 1);
    case 5: return shape.assign(1, 0);
    case 6: return shape.assign(1, 1ULL << from.byte() % 63);
    case 7: return shape.assign(2, 1ULL << 32);
    case 8: return shape.assign(1 + from.byte() % 33, 1 + from.byte() % 3);
    case 9:
    case 10:
      if (!shape.empty()) shape[from.byte() % shape.size()] = from.byte();
  }
}

/// A creation list: contiguous, compact, chunked with filters, external, virtual. `foreign`: nothing may be written, since it
/// would leave this file or fill the memory, or since libhdf5 1.10 crashes in the filter when it writes some types.
Hid choose_layout(const std::vector<hsize_t>& shape, hid_t type, Cursor& from, bool& foreign) {
  Hid list = list_of(H5P_DATASET_CREATE);
  const unsigned kind = from.byte() % 8;
  if (kind < 2) return list;
  if (kind == 2) H5Pset_layout(list, H5D_COMPACT);
  else if (kind == 3) H5Pset_external(list, "nowhere", 0, H5F_UNLIMITED), foreign = true;
  else if (kind == 4) H5Pset_virtual(list, store::space(shape), "nowhere.h5", "/x", store::space(shape));
  else if (!shape.empty()) {
    std::vector<hsize_t> chunk = shape;
    const unsigned size = from.byte();
    for (hsize_t& n : chunk) n = size % 4 == 0 ? 1 : size % 4 == 1 ? 1ULL << size / 4 % 31 : std::clamp<hsize_t>(n, 1, 4096);
    H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data());
    std::size_t bytes = H5Tget_size(type);
    for (const hsize_t n : chunk) bytes = n > most_bytes ? most_bytes + 1 : std::min<std::size_t>(bytes * n, most_bytes + 1);
    foreign = bytes > most_bytes;
    const unsigned values[] = {0, 0};
    for (unsigned filters = from.byte() % 16, i = 0; i < filters % 4; ++i) switch (from.byte() % 8) {
        default: H5Pset_deflate(list, 1); break;
        case 1: H5Pset_shuffle(list); break;
        case 2: H5Pset_fletcher32(list); break;
        case 3: H5Pset_nbit(list), foreign = true; break;
        case 4: H5Pset_scaleoffset(list, H5Z_SO_INT, 0), foreign = true; break;
        case 5: H5Pset_filter(list, 32001, H5Z_FLAG_OPTIONAL, 2, values); break;
      }
  }
  if (from.byte() % 4 == 1 && (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT)) {
    const double fill = from.number();
    H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill);
  }
  return list;
}

void replace_dataset(hid_t file, const std::string& name, Cursor& from) {
  Content content;
  if (const hid_t old = H5Dopen2(file, name.c_str(), H5P_DEFAULT); old >= 0) {
    const Hid dataset(old, H5Dclose, "old");
    content = content_of(dataset);
  }
  const bool usual = from.byte() % 2 == 0 && !content.shape.empty();
  const Hid type = !usual ? choose_type(from) : content.text ? store::string_type() : copy(H5T_IEEE_F64LE);
  choose_shape(content.shape, from);
  bool foreign = false;
  const Hid list = choose_layout(content.shape, type, from, foreign);
  change(content, from);
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  const bool null = from.byte() % 32 == 1;
  const Hid extent = null ? Hid(H5Screate(H5S_NULL), H5Sclose, "null") : store::space(content.shape);
  const Hid dataset(H5Dcreate2(file, name.c_str(), type, extent, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose, "new");
  if (from.byte() % 8 != 1 && !foreign) write_content(dataset, content);
}

void change_dataset(hid_t file, const std::string& name, Cursor& from) {
  const Hid dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "data set");
  Content content = content_of(dataset);
  change(content, from);
  write_content(dataset, content);
}

void change_attribute(hid_t file, const Places& places, const std::string& object, Cursor& from) {
  const unsigned kind = from.byte();
  const auto& [where, what] = places.attributes[from.byte() % places.attributes.size()];
  const std::string path = kind % 4 == 0 ? object : where, name = kind % 4 < 2 ? from.text() : what;
  const Hid owner(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose, "owner");
  H5Adelete(owner, name.c_str());
  const hsize_t none[] = {0}, two[] = {2};
  switch (from.byte() % 8) {
    case 0: return;
    case 1: return store::set_attribute(owner, name, from.text());
    case 2: return store::set_attribute(owner, name, static_cast<long long>(from.byte()) - 2);
    case 3: {
      const std::string raw = from.bytes(8);
      long long value = 0;
      std::memcpy(&value, raw.data(), raw.size());
      return store::set_attribute(owner, name, value);
    }
    default: break;
  }
  const Hid type = choose_type(from);
  const unsigned shape = from.byte() % 4;
  const Hid extent = shape == 0   ? Hid(H5Screate(H5S_NULL), H5Sclose, "null")
                     : shape == 1 ? store::space(none)
                     : shape == 2 ? store::space(two)
                                  : store::space({});
  const Hid attribute(H5Acreate2(owner, name.c_str(), type, extent, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "attribute");
  const double values[] = {from.number(), from.number()};
  if (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT) H5Awrite(attribute, H5T_NATIVE_DOUBLE, values);
  else if (H5Tis_variable_str(type) > 0 && shape != 1) {
    const std::string text = from.text();
    const char* const pointers[] = {text.c_str(), "second"};
    H5Awrite(attribute, type, pointers);
  }  // else never written
}

void edit(hid_t file, const Places& places, Cursor& from) {
  const auto object = [&] { return places.objects[from.byte() % places.objects.size()]; };
  const auto fresh = [&] {  // a name beside or below an object
    const std::string at = object();
    return (from.byte() % 2 ? at : at.substr(0, at.rfind('/'))) + "/" + from.text();
  };
  const unsigned kind = from.byte() % 16;
  const std::string name = object();
  switch (kind) {
    case 0:
    case 1:
    case 2: return replace_dataset(file, name, from);
    case 3:
    case 4:
    case 5: return change_dataset(file, name, from);
    case 6:
    case 7: return change_attribute(file, places, name, from);
    case 8: H5Ldelete(file, name.c_str(), H5P_DEFAULT); return;
    case 9: H5Lmove(file, name.c_str(), file, fresh().c_str(), H5P_DEFAULT, H5P_DEFAULT); return;
    case 10: H5Lcreate_hard(file, name.c_str(), file, fresh().c_str(), H5P_DEFAULT, H5P_DEFAULT); return;
    case 11: H5Lcreate_soft(from.text().c_str(), file, fresh().c_str(), H5P_DEFAULT, H5P_DEFAULT); return;
    case 12: H5Lcreate_external("nowhere.h5", "/x", file, fresh().c_str(), H5P_DEFAULT, H5P_DEFAULT); return;
    case 13: store::make_group(file, fresh()); return;
    case 14: {
      const std::string text = from.text(), path = fresh();
      store::write_strings(file, path, std::span(&text, 1), {});
      return;
    }
    default: {  // a text of the provenance, or any other place, replaced by a long one
      const std::string path = from.byte() % 2 ? "/provenance/table" : name, text = from.text();
      H5Ldelete(file, path.c_str(), H5P_DEFAULT);
      store::write_strings(file, path, std::span(&text, 1), {});
    }
  }
}

void add_attributes(hid_t owner, const std::string& path, Places& places) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  hsize_t at = 0;
  store::need(H5Aiterate2(owner, H5_INDEX_NAME, H5_ITER_INC, &at, collect, &names), "attributes");
  for (const auto& name : names) places.attributes.emplace_back(path, name);
}

/// Of a good file: hard links, no cycles.
void add_objects(hid_t group, std::string path, Places& places) {  // a copy: the list of paths grows
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  hsize_t at = 0;
  store::need(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, collect, &names), "links");
  add_attributes(group, path.empty() ? "/" : path, places);
  for (const auto& name : names) {
    const Hid object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose, "object");
    places.objects.push_back(path + "/" + name);
    if (H5Iget_type(object) == H5I_GROUP) add_objects(object, places.objects.back(), places);
    else add_attributes(object, places.objects.back(), places);
  }
}

}  // namespace

Places places_of(hid_t file) {
  Places places;
  const Hid root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "root group");
  add_objects(root, "", places);
  return places;
}

void apply_edits(hid_t file, const Places& places, std::span<const std::uint8_t> program) {
  Cursor from{program};
  for (int i = 0; i < 32 && from.more(); ++i) {
    try {
      edit(file, places, from);
    } catch (const store::Hdf5Error&) {  // refused
    }
  }
}

}  // namespace odrpo::fuzz
