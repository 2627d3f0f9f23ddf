// The edits: data sets replaced or changed, links of every kind, attributes, texts. Uses the HDF5 API alone.
#include "tests/fuzz/edits.hpp"

#include <cstring>

#include "tests/fuzz/choices.hpp"

namespace odrpo::fuzz {
namespace {

using store::Hid;

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

void replace_dataset(hid_t file, const std::string& name, Cursor& from) {
  Content content;
  if (const hid_t old = H5Dopen2(file, name.c_str(), H5P_DEFAULT); old >= 0) {
    const Hid dataset(old, H5Dclose, "old");
    content = content_of(dataset);
  }
  const bool usual = from.byte() % 2 == 0 && !content.shape.empty();
  const Hid type = !usual ? choose_type(from) : content.text ? store::string_type() : Hid(H5Tcopy(H5T_IEEE_F64LE), H5Tclose, "type");
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
      store::write_text(file, path, text);
      return;
    }
    default: {  // a text of the provenance, or any other place, replaced by a long one
      const std::string path = from.byte() % 2 ? "/provenance/table" : name, text = from.text();
      H5Ldelete(file, path.c_str(), H5P_DEFAULT);
      store::write_text(file, path, text);
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
