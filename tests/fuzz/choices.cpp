// What the edits choose from: words with a meaning in a result file, odd numbers, and what HDF5 offers for a data set.
#include "tests/fuzz/choices.hpp"

#include <cstring>
#include <limits>

namespace odrpo::fuzz {
namespace {

using store::Hid;

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
                             "evaluated",
                             "prompt",
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
                             "baseline_groups = maxrl\tgrpo|odrpo-gini(maxrl)\trloo\n",
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

Hid copy(hid_t type) { return {H5Tcopy(type), H5Tclose, "type"}; }
Hid list_of(hid_t kind) { return {H5Pcreate(kind), H5Pclose, "list"}; }

}  // namespace

std::string Cursor::text() {
  switch (const unsigned kind = byte() % 8; kind) {
    case 0: return bytes(byte());
    case 1: {
      const std::string piece = bytes(1 + byte() % 8);
      std::string text;
      for (unsigned times = 1u << byte() % 14; times > 0; --times) text += piece;
      return text;
    }
    case 2: return words[byte() % std::size(words)] + text();
    default: return words[byte() % std::size(words)];
  }
}

double Cursor::number() {
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
    std::size_t bytes = H5Tget_size(type), chunks = 1;
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      bytes = chunk[d] > most_bytes ? most_bytes + 1 : std::min<std::size_t>(bytes * chunk[d], most_bytes + 1);
      chunks =
          shape[d] / chunk[d] > most_bytes ? most_bytes + 1 : std::min<std::size_t>(chunks * (shape[d] / chunk[d] + 1), most_bytes + 1);
    }
    foreign = bytes > most_bytes || chunks > 4096;
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

}  // namespace odrpo::fuzz
