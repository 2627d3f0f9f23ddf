// --device and --devices: which lists are good, which devices are opened, what trains where, and what is said and refused.
#include "app/run/device_choice.hpp"

#include <string>
#include <vector>

#include "config/read/parse.hpp"
#include "tests/catch.hpp"
#include "tests/train/batched/grid.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "tests/train/tiny.hpp"

using namespace odrpo;
using namespace odrpo::app;
using Names = std::vector<std::string>;

namespace {

// Runs of one shape.
Suite suite_of(const std::vector<RunKind>& runs) {
  Suite suite;
  suite.runs = grid_of(runs);
  return suite;
}

// Runs that have no batched run for these reasons; of one byte each.
Suite suite_of(const Names& troubles) {
  std::vector<RunKind> runs;
  for (const std::string& trouble : troubles) runs.push_back({"", 1, trouble});
  return suite_of(runs);
}

DeviceFacts device(const std::string& name, const std::string& trouble = "") {
  DeviceFacts d;
  d.name = name;
  d.trouble = trouble;
  return d;
}

// A machine with these devices; `opened` hears of every engine that is made, "bad" devices cannot be opened.
DeviceSource machine(const std::vector<DeviceFacts>& all, std::vector<int>* opened = nullptr) {
  DeviceSource s;
  s.find = [all] {
    Devices found;
    found.all = all;
    if (all.empty()) found.why_none = "no driver";
    return found;
  };
  s.open = [all, opened](int index, ProductPrecision) -> BatchEngine {
    const std::string name = all.at(static_cast<std::size_t>(index)).name;
    if (opened) opened->push_back(index);
    if (name == "bad") throw Failure(Exit::device, "it does not answer");
    return {"cuda:" + std::to_string(index) + " (" + name + ")", 100, {}};
  };
  s.batch_rules = grid_rules(1);
  return s;
}

Failure refusal(const Suite& suite, const DeviceOptions& options, const DeviceSource& source) {
  try {
    choose_devices(suite, device_wish(options), source);
  } catch (const Failure& failure) {
    return failure;
  }
  return {Exit::ok, "nothing was refused"};
}

ChosenDevices placed(const Suite& suite, const DeviceOptions& options, const DeviceSource& source) {
  return choose_devices(suite, device_wish(options), source);
}

}  // namespace

TEST_CASE("lists of devices: numbers with commas, each once, and no other --device beside them") {
  CHECK(device_wish({"", "0"}).numbers == std::vector<int>{0});
  CHECK(device_wish({"cuda", "3,1,12"}).numbers == std::vector<int>{3, 1, 12});
  CHECK(device_wish({"", "0"}).must);
  CHECK_FALSE(device_wish({"auto", ""}).must);
  CHECK_FALSE(device_wish({"cpu", ""}).look);
  for (const char* bad : {",", "0,", ",0", "0,,1", "-1", "a", "0 1", "0x1", "1.0", "12345", "99999999999999999999", "0,0", "1,01"}) {
    INFO(bad);
    const Failure f = refusal(suite_of(Names{""}), {"", bad}, machine({device("A")}));
    CHECK(f.code == Exit::usage);
    CHECK(std::string(f.what()).find("--devices") == 0);
  }
  for (const char* other : {"cpu", "auto"}) CHECK(refusal(suite_of(Names{""}), {other, "0"}, machine({device("A")})).code == Exit::usage);
}

TEST_CASE("the flag --precision is of devices, and reaches the device that is opened") {
  for (const char* device_word : {"", "cpu"}) {
    const Failure f = refusal(suite_of(Names{""}), {device_word, "", "tf32"}, machine({device("A")}));
    CHECK(f.code == Exit::usage);
    CHECK(std::string(f.what()).find("--precision") == 0);
  }
  for (const auto& [word, wanted] : {std::pair("", ProductPrecision::fp32), {"fp32", ProductPrecision::fp32}, {"tf32", ProductPrecision::tf32}}) {
    DeviceSource source = machine({device("A")});
    std::vector<ProductPrecision> seen;
    source.open = [&seen](int, ProductPrecision precision) {
      seen.push_back(precision);
      return BatchEngine{"cuda:0 (A)", 100, {}};
    };
    placed(suite_of(Names{""}), {"cuda", "", word}, source);
    placed(suite_of(Names{""}), {"", "0", word}, source);
    placed(suite_of(Names{""}), {"auto", "", word}, source);
    CHECK(seen == std::vector<ProductPrecision>(3, wanted));
  }
}

TEST_CASE("a machine without the library of products trains no transformer: cuda refuses the suite, auto takes the CPU and says why") {
  Suite lm = load_suite_text("lm.toml", checkpoint_sample::lm, {"suite.seeds=2"}, {});
  DeviceSource source = machine({device("A")});
  source.batch_rules = {};
  int asked = 0;
  source.open = [&asked](int, ProductPrecision) {
    BatchEngine e{"cuda:0 (A)", 1e12, {}};
    e.no_transformers = [&asked] { return ++asked, std::string("there is no cuBLASLt"); };
    return e;
  };
  const Failure f = refusal(lm, {"cuda", ""}, source);
  CHECK(f.code == Exit::device);
  CHECK(f.what() == std::string("cuda:0 (A): there is no cuBLASLt; use --device cpu"));
  const ChosenDevices p = placed(lm, {"auto", ""}, source);
  CHECK(p.engines.empty());
  REQUIRE(p.words.size() == 1);
  CHECK(p.words[0].find("2 of 2 runs train on the CPU: there is no cuBLASLt") != std::string::npos);
  asked = 0;
  placed(tiny(), {"cuda", ""}, source);
  CHECK(asked == 0);  // it is large, and the bandit needs none of it
}

TEST_CASE("a device whose blocks have no room for a batch of the bandit trains transformers all the same, and its limit is said") {
  int asked = 0;
  DeviceSource source = machine({device("A"), device("B")});
  source.batch_rules = {};
  source.open = [&asked](int index, ProductPrecision) {
    BatchEngine e{index == 0 ? "cuda:0 (A)" : "cuda:1 (B)", 1e12, {}};
    if (index == 1) e.too_large = [&asked](const RunSpec&) { return ++asked, std::string("cuda:1 (B) has 99 KiB"); };
    return e;
  };
  const std::string runs = std::to_string(tiny().runs.size());
  const Failure f = refusal(tiny(), {"", "1"}, source);
  CHECK(f.code == Exit::limits);
  CHECK(f.what() == "nothing in this suite has a form on the device; use --device cpu or auto\n" + runs + " of " + runs +
                        " runs would train on the CPU: cuda:1 (B) has 99 KiB");
  CHECK(refusal(tiny(), {"", "0,1"}, source).code == Exit::limits);  // a batch may go to either
  CHECK(placed(tiny(), {"", "0"}, source).on_engines == tiny().runs.size());
  asked = 0;
  CHECK(placed(load_suite_text("lm.toml", checkpoint_sample::lm, {}, {}), {"", "1"}, source).on_engines == 1);
  CHECK(asked == 0);
}

TEST_CASE("memory_gib bounds what batches of the bandit take of the host, not what transformers take of a device") {
  Suite lm = load_suite_text("lm.toml", checkpoint_sample::lm, {}, {});
  lm.limits.memory_gib = 0.001;
  DeviceSource source = machine({device("A")});
  source.batch_rules = {};
  source.open = [](int, ProductPrecision) { return BatchEngine{"cuda:0 (A)", 1e12, {}}; };
  CHECK(placed(lm, {"cuda", ""}, source).on_engines == 1);
}

TEST_CASE("cuda and auto take the first device that can be used, and open no other") {
  std::vector<int> opened;
  const auto source = machine({device("old", "this program has no code for it"), device("bad"), device("A"), device("B")}, &opened);
  for (const char* word : {"cuda", "auto"}) {
    opened.clear();
    const ChosenDevices p = placed(suite_of(Names{"", ""}), {word, ""}, source);
    REQUIRE(p.engines.size() == 1);
    CHECK(p.device() == "cuda:2 (A)");
    CHECK(p.gpu == "A");
    CHECK(opened == std::vector<int>{1, 2});
    CHECK(p.words == std::vector<std::string>{"2 of 2 runs train on cuda:2 (A)"});
  }
  CHECK(placed(suite_of(Names{""}), {"", ""}, source).engines.empty());  // nobody asked
  CHECK(placed(suite_of(Names{""}), {"cpu", ""}, source).engines.empty());
  CHECK(placed(suite_of(Names{""}), {"cpu", ""}, source).words.empty());
}

TEST_CASE("a list takes just these devices, in its order, or none") {
  std::vector<int> opened;
  const auto source = machine({device("A"), device("bad"), device("C")}, &opened);
  const ChosenDevices p = placed(suite_of(Names{""}), {"", "2,0"}, source);
  CHECK(p.device() == "cuda:2 (C), cuda:0 (A)");
  CHECK(p.gpu == "C, A");
  CHECK(opened == std::vector<int>{2, 0});
  const Failure bad = refusal(suite_of(Names{""}), {"", "0,1"}, source);
  CHECK(bad.code == Exit::device);
  CHECK(bad.what() == std::string("device 1 (bad): it does not answer"));
  opened.clear();
  const Failure missing = refusal(suite_of(Names{""}), {"cuda", "0,3"}, source);
  CHECK(missing.code == Exit::device);
  CHECK(missing.what() == std::string("there is no CUDA device 3; there are 0 (A), 1 (bad), 2 (C)"));
  CHECK(opened.empty());
  CHECK(refusal(suite_of(Names{""}), {"", "9999"}, machine({device("A")})).what() ==
        std::string("there is no CUDA device 9999; there is 0 (A)"));
}

TEST_CASE("where there is no device, cuda is refused and auto takes the CPU") {
  for (const auto& [source, why] : {std::pair{machine({}), std::string("no driver")},
                                    {machine({device("bad"), device("old", "x")}), "device 0 (bad): it does not answer"}}) {
    INFO(why);
    const Failure f = refusal(suite_of(Names{""}), {"cuda", ""}, source);
    CHECK(f.code == Exit::device);
    CHECK(f.what() == "no CUDA device: " + why + "; use --device cpu");
    const ChosenDevices p = placed(suite_of(Names{"", ""}), {"auto", ""}, source);
    CHECK(p.device() == "cpu");
    CHECK(p.gpu == "none");
    CHECK(p.words == std::vector<std::string>{"--device auto takes the CPU: no CUDA device: " + why});
    REQUIRE(p.on_cpu.size() == 1);
    CHECK(p.on_cpu[0].runs == 2);
    CHECK(placed(suite_of(Names{""}), {}, source).words.empty());
  }
  CHECK(refusal(suite_of(Names{""}), {"", "0"}, machine({})).code == Exit::device);
}

TEST_CASE("runs without a batched run are told of, by reason") {
  const auto source = machine({device("A")});
  const auto suite = suite_of(std::vector<RunKind>{{"", 1, ""}, {"", 1, "odd"}, {"", 1, "odd"}, {"", 2048, ""}});
  const ChosenDevices p = placed(suite, {"cuda", ""}, source);
  CHECK(p.on_engines == 1);
  CHECK(p.words ==
        std::vector<std::string>{
            "1 of 4 runs train on cuda:0 (A)", "2 of 4 runs train on the CPU: odd",
            "1 of 4 runs train on the CPU: they take 2 KiB and more, a device has room for 100 B (or `memory_gib` allows no more)"});
  const ChosenDevices many = placed(suite_of(Names{"", "a", "b", "c", "d", "e", "f"}), {"auto", ""}, source);
  REQUIRE(many.words.size() == 6);
  CHECK(many.words.back() == "2 of 7 runs train on the CPU for 2 other reasons");
}

TEST_CASE("a suite in which nothing can be batched is refused for cuda and left to the CPU by auto, which opens nothing for it") {
  std::vector<int> opened;
  const auto source = machine({device("A")}, &opened);
  const auto suite = suite_of(Names{"odd", "a transformer", "odd"});
  const Failure f = refusal(suite, {"cuda", ""}, source);
  CHECK(f.code == Exit::limits);
  CHECK(f.what() == std::string("nothing in this suite has a form on the device; use --device cpu or auto\n"
                                "2 of 3 runs would train on the CPU: odd\n1 of 3 runs would train on the CPU: a transformer"));
  CHECK(refusal(suite, {"", "0"}, source).code == Exit::limits);
  opened.clear();
  const ChosenDevices p = placed(suite, {"auto", ""}, source);
  CHECK(opened.empty());
  CHECK(p.engines.empty());
  CHECK(p.device() == "cpu");
  CHECK(p.on_cpu.size() == 2);
  CHECK(p.words.size() == 2);
  CHECK(placed(suite, {}, source).words.empty());

  // a batched run that no device has room for is none
  const auto large = suite_of(std::vector<RunKind>{{"", 1000, ""}});
  CHECK(refusal(large, {"cuda", ""}, source).code == Exit::limits);
  CHECK(placed(large, {"auto", ""}, source).device() == "cpu");
}

TEST_CASE("a batch takes no more memory than the suite may take of the host") {
  Suite suite = suite_of(Names{""});
  CHECK(placed(suite, {"cuda", ""}, machine({device("A")})).on_engines == 1);
  suite.limits.memory_gib = 0.5 / (1024.0 * 1024.0 * 1024.0);  // half a byte
  CHECK(refusal(suite, {"cuda", ""}, machine({device("A")})).code == Exit::limits);
}
