// Files made to hurt: links elsewhere, foreign filters, huge claims, loops, wrong types, truncation, random damage. Never a crash,
// always Failure bad_input (or, for damage that changes only numbers, a digest that differs).
#include <functional>
#include <random>

#include "kernels/shared/failure.hpp"
#include "results/store/file/hdf5.hpp"
#include "results/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
using odrpo::store::Hid;
using sample::contains;

namespace {

/// Reads a file as a stranger's: the message of a bad_input refusal, or "read".
std::string outcome(const std::string& path) {
  try {
    const Verification found = verify_results(path);
    return found.computed == found.head.digest ? "read" : "digest differs";
  } catch (const Failure& failure) {
    if (failure.code != Exit::bad_input) return "wrong exit code";
    return failure.what();
  }
}

/// The outcome of reading a good file of this schema after a change made with HDF5 itself.
std::string after_in(long long schema, const std::function<void(hid_t)>& change) {
  const sample::Scratch scratch;
  static const std::string good = [] {
    const sample::Scratch once;
    sample::write_file(once.file(), sample::with_evaluated(sample::runs(1)));
    return sample::bytes_of(once.file());
  }();
  sample::write_bytes(scratch.file(), good);
  store::quiet();
  {
    const Hid file(H5Fopen(scratch.file().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "good file");
    if (schema != schema_version) {
      H5Adelete(file, "schema_version");
      store::set_attribute(file, "schema_version", schema);
      if (schema == 1) H5Adelete(file, "contents_sha256");  // a file with checksums is of no schema without them
    }
    change(file);
  }
  return outcome(scratch.file());
}

/// The same for schema 1, which has no checksums: so every other check has to find the change. Checksums must find it, too.
std::string after(const std::function<void(hid_t)>& change) {
  const std::string old = after_in(1, change), now = after_in(schema_version, change);
  CHECK(contains(now, "damaged") == (old != "read"));
  return old;
}

/// Replaces a data set by one of another type, shape or creation list.
void replace(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& shape, hid_t list = H5P_DEFAULT) {
  H5Ldelete(file, name, H5P_DEFAULT);
  const Hid dataset(H5Dcreate2(file, name, type, store::space(shape), H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose, "replacement");
}

Hid creation_list() { return {H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "list"}; }

}  // namespace

TEST_CASE("links that lead elsewhere") {
  CHECK(after([](hid_t) {}) == "read");
  CHECK(contains(after([](hid_t f) { H5Lcreate_soft("/votes", f, "soft", H5P_DEFAULT, H5P_DEFAULT); }), "link"));
  CHECK(contains(after([](hid_t f) {
                   H5Lcreate_soft("/b", f, "a", H5P_DEFAULT, H5P_DEFAULT);
                   H5Lcreate_soft("/a", f, "b", H5P_DEFAULT, H5P_DEFAULT);
                 }),
                 "link"));
  CHECK(contains(after([](hid_t f) { H5Lcreate_external("/etc/passwd", "/x", f, "away", H5P_DEFAULT, H5P_DEFAULT); }), "link"));
  CHECK(contains(after([](hid_t f) {
                   H5Ldelete(f, "curves/bandit", H5P_DEFAULT);
                   H5Lcreate_external("other.h5", "/curves/bandit", f, "curves/bandit", H5P_DEFAULT, H5P_DEFAULT);
                 }),
                 "link"));
  CHECK(contains(after([](hid_t f) {
                   H5Ldelete(f, "provenance", H5P_DEFAULT);
                   H5Lcreate_soft("/curves", f, "provenance", H5P_DEFAULT, H5P_DEFAULT);
                 }),
                 "link"));
  CHECK(contains(after([](hid_t f) { H5Lcreate_hard(f, "/", f, "loop", H5P_DEFAULT, H5P_DEFAULT); }), "not a data set"));
  CHECK(contains(after([](hid_t f) { H5Lcreate_hard(f, "/curves", f, "curves/loop", H5P_DEFAULT, H5P_DEFAULT); }), "missing"));
}

TEST_CASE("evaluations that are not per prompt of their world's runs") {
  const auto overwritten = [](const char* name, std::vector<std::int32_t> values) {
    return after([&](hid_t f) {
      const Hid dataset(H5Dopen2(f, name, H5P_DEFAULT), H5Dclose, name);
      H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    });
  };
  CHECK(contains(overwritten("evaluated/bandit/prompt", {0, 1, 1, 3, 4}), "do not increase"));
  CHECK(contains(overwritten("evaluated/bandit/prompt", {0, 1, 2, 3, 5}), "are not 0, 1, 2"));
  CHECK(contains(overwritten("evaluated/bandit/prompt", {-1, 0, 1, 2, 3}), "are not 0, 1, 2"));
  CHECK(contains(overwritten("evaluated/bandit/run", {0, 1, 2, 3, 4, 5, 6, 16}), "not its own"));
  CHECK(contains(overwritten("evaluated/bandit/run", {0, 1, 2, 3, 4, 5, 6, 8}), "not its own"));  // another world's
  const auto replaced = [](hid_t type, const std::vector<hsize_t>& shape) {
    return after([&](hid_t f) {
      replace(f, "evaluated/bandit/quality", type, shape);
      const Hid dataset(H5Dopen2(f, "evaluated/bandit/quality", H5P_DEFAULT), H5Dclose, "quality");
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, std::vector<double>(40, 1.0).data());
    });
  };
  CHECK(contains(replaced(H5T_IEEE_F64LE, {8, 4}), "length of its dimensions"));
  CHECK(contains(replaced(H5T_IEEE_F32LE, {8, 5}), "wrong type"));
  CHECK(contains(after([](hid_t f) { H5Ldelete(f, "evaluated/bandit/prompt", H5P_DEFAULT); }), "missing"));
  CHECK(after([](hid_t f) { H5Ldelete(f, "evaluated", H5P_DEFAULT); }) == "digest differs");
  CHECK(contains(after([](hid_t f) {
                   H5Ldelete(f, "evaluated", H5P_DEFAULT);
                   H5Lcreate_soft("/curves", f, "evaluated", H5P_DEFAULT, H5P_DEFAULT);
                 }),
                 "link"));
}

TEST_CASE("times that are not those of their world's curves") {
  const auto changed = [](const std::function<void(hid_t)>& change, const char* why) { CHECK(contains(after(change), why)); };
  const auto overwritten = [&](const char* name, std::vector<std::int32_t> values) {
    changed(
        [&](hid_t f) {
          const Hid dataset(H5Dopen2(f, name, H5P_DEFAULT), H5Dclose, name);
          H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        },
        "not those of its curves");
  };
  overwritten("seconds/bandit/step", {0, 10, 20, 30, 40, 51});
  overwritten("seconds/bandit/run", {0, 1, 2, 3, 4, 5, 6, 8});
  changed([](hid_t f) { H5Lmove(f, "seconds/bandit", f, "seconds/another", H5P_DEFAULT, H5P_DEFAULT); }, "not those of its curves");
  changed([](hid_t f) { H5Lcreate_hard(f, "seconds/bandit/seconds", f, "curves/bandit/seconds", H5P_DEFAULT, H5P_DEFAULT); },
          "times among its curves too");
  changed([](hid_t f) { H5Lcreate_hard(f, "votes", f, "seconds/bandit/votes", H5P_DEFAULT, H5P_DEFAULT); }, "'votes' is no time");
  changed([](hid_t f) { H5Lcreate_soft("/votes", f, "seconds/bandit/votes", H5P_DEFAULT, H5P_DEFAULT); }, "link");
  changed([](hid_t f) { H5Ldelete(f, "seconds/bandit/seconds", H5P_DEFAULT); }, "missing");
  const auto replaced = [&](hid_t type, const std::vector<hsize_t>& shape, const char* why) {
    changed(
        [&](hid_t f) {
          replace(f, "seconds/bandit/seconds", type, shape);
          const Hid dataset(H5Dopen2(f, "seconds/bandit/seconds", H5P_DEFAULT), H5Dclose, "seconds");
          H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, std::vector<float>(8 * 6 * 6, 1.0f).data());
        },
        why);
  };
  replaced(H5T_IEEE_F32LE, {8, 6, 5}, "length of its dimensions");
  const auto none = [](long long schema) { return after_in(schema, [](hid_t f) { H5Ldelete(f, "seconds", H5P_DEFAULT); }); };
  CHECK(none(1) == "read");  // a file may have no times; the checksum says that this one had some
  CHECK(contains(none(schema_version), "do not belong together"));
}

TEST_CASE("data kept elsewhere, foreign filters") {
  const std::vector<hsize_t> n = {16};
  CHECK(contains(after([&](hid_t f) {
                   const Hid list = creation_list();
                   H5Pset_virtual(list, store::space(n), "other.h5", "/x", store::space(n));
                   replace(f, "final_quality", H5T_IEEE_F64LE, n, list);
                 }),
                 "virtual"));
  CHECK(contains(after([&](hid_t f) {
                   const Hid list = creation_list();
                   H5Pset_external(list, "/etc/passwd", 0, 128);
                   replace(f, "final_quality", H5T_IEEE_F64LE, n, list);
                 }),
                 "another file"));
  for (H5Z_filter_t filter : {H5Z_FILTER_NBIT, H5Z_FILTER_SCALEOFFSET, H5Z_filter_t{32001}}) {
    CHECK(contains(after([&](hid_t f) {
                     const Hid list = creation_list();
                     H5Pset_chunk(list, 1, n.data());
                     const unsigned values[] = {0, 0};
                     if (filter == H5Z_FILTER_NBIT) H5Pset_nbit(list);
                     else if (filter == H5Z_FILTER_SCALEOFFSET) H5Pset_scaleoffset(list, H5Z_SO_FLOAT_DSCALE, 2);
                     else H5Pset_filter(list, filter, H5Z_FLAG_OPTIONAL, 2, values);
                     replace(f, "final_quality", H5T_IEEE_F64LE, n, list);
                   }),
                   "filter"));
  }
}

TEST_CASE("claims that the file does not hold") {
  const auto huge = [](std::vector<hsize_t> shape, hsize_t chunk) {
    return [=](hid_t f) {
      const Hid list = creation_list();
      const std::vector<hsize_t> chunks(shape.size(), chunk);
      H5Pset_chunk(list, static_cast<int>(chunks.size()), chunks.data());
      replace(f, "final_quality", H5T_IEEE_F64LE, shape, list);
    };
  };
  CHECK(contains(after(huge({1ULL << 40}, 1024)), "claims"));
  CHECK(contains(after(huge({1ULL << 30}, 1024)), "claims"));
  CHECK(contains(after(huge({1ULL << 32, 1ULL << 32}, 64)), "claims"));
  CHECK(contains(after([](hid_t f) {
                   const hsize_t shape[] = {16}, most[] = {H5S_UNLIMITED}, chunk[] = {1ULL << 28};
                   const Hid list = creation_list(), extent(H5Screate_simple(1, shape, most), H5Sclose, "shape");
                   H5Pset_chunk(list, 1, chunk);
                   H5Ldelete(f, "final_quality", H5P_DEFAULT);
                   H5Dclose(H5Dcreate2(f, "final_quality", H5T_IEEE_F64LE, extent, H5P_DEFAULT, list, H5P_DEFAULT));
                 }),
                 "chunks"));
  CHECK(contains(after([](hid_t f) { replace(f, "final_quality", H5T_IEEE_F64LE, {17}); }), "claims"));  // never written
  CHECK(contains(after([](hid_t f) { replace(f, "final_quality", H5T_IEEE_F64LE, {4, 4}); }), "claims"));
  CHECK(contains(after([](hid_t f) {
                   const hid_t attribute = H5Aopen(f, "runs", H5P_DEFAULT);
                   const long long many = 1LL << 40;
                   H5Awrite(attribute, H5T_NATIVE_LLONG, &many);
                   H5Aclose(attribute);
                 }),
                 "number of runs"));
}

TEST_CASE("wrong types, missing parts, contradictions") {
  const std::vector<double> zeros(16, 0);
  const auto put = [&](const char* name, hid_t type, hid_t memory, const void* data) {
    return [=](hid_t f) {
      replace(f, name, type, {16});
      const Hid dataset(H5Dopen2(f, name, H5P_DEFAULT), H5Dclose, name);
      H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    };
  };
  CHECK(contains(after(put("final_quality", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, zeros.data())), "wrong type"));
  CHECK(contains(after(put("final_quality", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, zeros.data())), "wrong type"));
  CHECK(contains(after(put("id", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, zeros.data())), "'id'"));
  CHECK(contains(after(put("run", H5T_STD_I32LE, H5T_NATIVE_DOUBLE, zeros.data())), "'run'"));
  const std::vector<const char*> same(16, "same"), rude(16, "\033[2J");
  const Hid text = store::string_type();
  CHECK(contains(after(put("id", text, text, same.data())), "two runs"));
  CHECK(contains(after(put("estimator", text, text, rude.data())), "control"));
  CHECK(contains(after(put("status", text, text, same.data())), "status"));
  CHECK(contains(after(put("env", text, text, same.data())), "not its own"));
  CHECK(after(put("final_quality", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, zeros.data())) == "digest differs");
  for (const char* name : {"id", "votes", "status", "key", "run", "curves", "provenance", "step_time_median", "curves/bandit/step"})
    CHECK(contains(after([&](hid_t f) { H5Ldelete(f, name, H5P_DEFAULT); }), "missing"));
  const auto schema = [](long long version) { return after_in(version, [](hid_t) {}); };
  CHECK(contains(schema(6), "was written by a newer version of odrpo-bench (result schema 6, this one reads up to 5)"));
  CHECK_FALSE(contains(schema(5), "damaged"));
  CHECK(contains(schema(0), "damaged"));
  for (const char* name : {"schema_version", "runs", "runs_ok", "runs_failed"})
    CHECK(contains(after([&](hid_t f) { H5Adelete(f, name); }), "missing"));
  CHECK(contains(after([](hid_t f) { H5Adelete(f, "status"); }), "counts"));
}

TEST_CASE("truncated files") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file("good.h5"), sample::runs(1));
  const std::string good = sample::bytes_of(scratch.file("good.h5"));
  int count = 0;
  for (std::size_t size = 0; size < good.size(); size += size < 200 ? 13 : 997, ++count) {
    sample::write_bytes(scratch.file(), good.substr(0, size));
    INFO("first " << size << " of " << good.size() << " bytes");
    const std::string said = outcome(scratch.file());
    CHECK(contains(said, "not a result file"));
  }
  CHECK(count > 60);
}

TEST_CASE("random damage", "[slow]") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file("good.h5"), sample::runs(1));
  const std::string good = sample::bytes_of(scratch.file("good.h5"));
  int read = 0, digest = 0, refused = 0, crashed = 0;
  for (unsigned seed = 1; seed <= rounds(40u, 200u); ++seed) {
    std::mt19937 rng(seed);
    std::string bad = good;
    for (unsigned flips = 1 + rng() % 8; flips > 0; --flips) bad[rng() % bad.size()] ^= static_cast<char>(1u << rng() % 8);
    sample::write_bytes(scratch.file(), bad);
    INFO("seed " << seed);
    const std::string said = outcome(scratch.file());
    const bool known = said == "read" || said == "digest differs" || contains(said, "not a result file");
    CHECK(known);
    (said == "read" ? read : said == "digest differs" ? digest : contains(said, "HDF5 library crashed") ? crashed : refused) += 1;
  }
  WARN("seeds 1..n: " << read << " read with an equal digest (damage in unused bytes), " << digest << " digest differs, " << refused
                        << " refused, " << crashed << " crashed the HDF5 library in its own process");
}
