// Fuzz target: the reader of result files, and the tables made of what it reads. The input is a program of edits (edits.hpp) of a good
// file, not the file's bytes: those would mostly find the bugs of libhdf5, which the program keeps in a child process.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "results/export/json_text.hpp"
#include "results/store/file/isolate.hpp"
#include "results/table/table.hpp"
#include "tests/fuzz/edits.hpp"
#include "tests/fuzz/oracle.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;
using store::Hid;

namespace {

/// What the program reads in a child process, here in this one: the root table with all columns, every record, checksums and digest.
ResultFile read_in_process(const std::string& image) {
  store::Bytes bytes;
  bytes.image = image;
  bytes.size = image.size();
  store::TableReceiver receiver(std::size_t{100} << 20);
  const auto every = [](const ResultFile& head) {
    std::vector<std::string> names;
    for (const ColumnInfo& column : head.all) names.push_back(column.name);
    return names;
  };
  store::with_reader(bytes, "fuzz", std::size_t{250} << 20, [&](store::Reader& reader) {
    store::send_table(reader, every, [&](const std::string& frame) { receiver.take(frame); });
    reader.each_slab(store::Reader::Parts::all, [](std::vector<RunRecord>&) {});
    reader.digest();
    reader.check_contents();
  });
  return std::move(receiver.result);
}

std::string good_file() {
  const sample::Scratch folder;
  auto runs = sample::with_evaluated(sample::runs(2));
  runs[5].status = RunStatus::failed;
  runs[5].error = "made to fail";
  sample::write_file(folder.file(), runs);
  {  // of schema 1: the checksums of schema 2 would refuse every edit before anything else can
    const Hid file(H5Fopen(folder.file().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "good file");
    H5Adelete(file, "schema_version");
    store::set_attribute(file, "schema_version", 1LL);
    H5Adelete(file, "contents_sha256");
  }
  return sample::bytes_of(folder.file());
}

/// The good file after the edits, as bytes. HDF5 keeps it in memory.
std::string edited(std::span<const std::uint8_t> program) {
  static const std::string good = good_file();
  static fuzz::Places places;
  const Hid list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "list");
  store::need(H5Pset_fapl_core(list, 1 << 20, false), "driver");
  store::need(H5Pset_file_image(list, const_cast<char*>(good.data()), good.size()), "image");
  store::need(H5Pset_fclose_degree(list, H5F_CLOSE_STRONG), "close");
  const Hid file(H5Fopen("edited.h5", H5F_ACC_RDWR, list), H5Fclose, "good file");
  if (places.objects.empty()) places = fuzz::places_of(file);
  fuzz::apply_edits(file, places, program);
  store::need(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush");
  const auto size = H5Fget_file_image(file, nullptr, 0);
  std::string bytes(static_cast<std::size_t>(std::max<ssize_t>(size, 0)), '\0');
  H5Fget_file_image(file, bytes.data(), bytes.size());
  return bytes;
}

void make_tables(const ResultFile& file) {
  const std::string* stored = file.provenance_text("table");
  const TableModel model = make_suite_table(file, parse_table_spec(stored ? *stored : ""));
  fuzz::require_printable(table_text(model), "a table that a terminal must not print");
  fuzz::require_printable(table_markdown(model), "a Markdown table that a terminal must not print");
  table_csv(model);
  fuzz::require(nlohmann::json::accept(table_json(model)), "a JSON table that is none");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  store::quiet();
  std::string image;
  try {
    image = edited({data, size});
  } catch (const store::Hdf5Error&) {
    return -1;  // HDF5 itself cannot write it
  }
  ResultFile file;
  if (fuzz::accepted({Exit::bad_input, Exit::limits}, [&] { file = read_in_process(image); }))
    fuzz::accepted({Exit::usage}, [&] { make_tables(file); });
  fuzz::require(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0, "the reader leaves objects open");
  return 0;
}
