// Dumps of rollouts: what each becomes, or how it is refused; dumps that real trainers wrote, against the trainers' own numbers.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "kernels/system/input_file.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/rollouts/rollouts.hpp"
#include "results/scores/score_file.hpp"
#include "tests/catch.hpp"
#include "tests/page.hpp"
#include "tests/source_path.hpp"

using namespace odrpo;

namespace {

std::string number_shown(double value) { return std::isnan(value) ? "." : fmt::format("{:.6g}", value); }

/// "FORMAT COLUMNS xWEIGHTS", then a line "STEP PROMPT: REWARD/REWARD(ADVANTAGE)#LENGTH …" for each group, `.` = none; notes and warnings follow. With several files
/// a row has its place, @FILE:LINE.
std::string shown(const Rollouts& r) {
  constexpr const char* units[] = {"", "tokens", "words", "characters"};
  std::string text = fmt::format("{} {}", r.format, fmt::join(r.reward_names, ","));
  if (!r.weights.empty()) text += fmt::format(" x{}", fmt::join(r.weights, ","));
  if (!r.length.empty()) text += fmt::format(" #{}", units[static_cast<std::size_t>(r.length_unit)]);
  for (const RolloutGroup& g : r.groups) {
    text += fmt::format("\n{} {}:", g.step, r.prompts[g.prompt]);
    for (std::uint32_t i = g.first; i < g.first + g.count; ++i) {
      text += " ";
      for (std::size_t c = 0; c < r.columns(); ++c) text += (c > 0 ? "/" : "") + number_shown(r.rewards[i * r.columns() + c]);
      if (!r.advantage.empty()) text += "(" + number_shown(r.advantage[i]) + ")";
      if (!r.length.empty()) text += "#" + number_shown(r.length[i]);
      text += r.files.size() > 1 ? fmt::format("@{}:{}", r.place[i].file, r.place[i].line) : fmt::format("@{}", r.place[i].line);
    }
  }
  for (const auto& note : r.notes) text += "\nnote: " + note;
  for (const auto& warning : r.warnings) text += "\nwarning: " + warning;
  return text + "\n";
}

template <class Read>
std::string result_of(const Read& read) {
  try {
    return shown(read());
  } catch (const Failure& failure) {
    const bool of_weights = std::string_view(failure.what()).find(" weights, but ") != std::string_view::npos;  // a flag's mistake
    CHECK(failure.code == (of_weights ? Exit::usage : Exit::bad_input));
    return std::string(failure.what()) + "\n";
  }
}

/// Lines @FLAG VALUE and @file NAME, under which the text of a file stands, whose escapes become bytes.
std::string result_of_case(const std::string& input) {
  std::vector<NamedText> files;
  RolloutReading how;
  how.scores.columns.named_by = "--";
  const std::map<std::string, std::string*> texts = {{"step", &how.step}, {"prompt", &how.prompt}, {"group", &how.group}, {"advantage", &how.advantage}, {"length", &how.length}};
  std::string text;
  for (std::string line : lines_of(input)) {
    if (line.starts_with('@')) {
      const auto blank = std::min(line.find(' '), line.size());
      const std::string flag = line.substr(1, blank - 1), value = blank < line.size() ? line.substr(blank + 1) : "";
      const auto options = reading_options();
      const auto option = std::find_if(options.begin(), options.end(), [&](const ReadingOption& o) { return o.key == flag && flag != "format"; });
      if (flag == "file") files.push_back({value, ""});
      else if (flag == "format") how.format = find_word<RolloutFormat>(rollout_format_words, value).value();
      else if (flag == "reward") how.rewards = split(value, ',');
      else if (flag == "size") how.group_size = std::stoi(value);
      else if (flag == "weights")
        for (const std::string& one : split(value, ',')) how.weights.push_back(std::stod(one));
      else if (option != options.end()) REQUIRE(option->set(how.scores, split(value, ',')).empty());
      else *texts.at(flag) = value;
      continue;
    }
    bool goes_on = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] != '\\' || at + 1 == line.size()) goes_on = line[at] == '\\', files.back().text += goes_on ? "" : std::string(1, line[at]);
      else if (line[at + 1] == 'x') files.back().text += static_cast<char>(std::stoi(line.substr(at + 2, 2), nullptr, 16)), at += 3;
      else files.back().text += line.substr(at++, 2);
    }
    if (!goes_on) files.back().text += '\n';
  }
  return result_of([&] { return parse_rollouts(std::move(files), how); });
}

std::string bytes_of(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i < 8 ? value >> 8 * i & 255 : 0);
  return bytes;
}

/// CRC-32 of gzip and zip.
std::uint32_t checksum(const std::string& text) {
  std::uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

/// gzip of one block that is stored as it is.
std::string gzip_of(const std::string& text) {
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11) + bytes_of(text.size(), 2) + bytes_of(~text.size(), 2) + text + bytes_of(checksum(text), 4) + bytes_of(text.size(), 4);
}

/// zip of members that are stored as they are.
std::string zip_of(const std::vector<NamedText>& members) {
  std::string zip, directory;
  for (const NamedText& member : members) {
    const std::string common = bytes_of(20, 2) + bytes_of(0, 8) + bytes_of(checksum(member.text), 4) + bytes_of(member.text.size(), 4) + bytes_of(member.text.size(), 4) + bytes_of(member.name.size(), 2) + bytes_of(0, 2);
    directory += "PK\x01\x02" + bytes_of(20, 2) + common + bytes_of(0, 10) + bytes_of(zip.size(), 4) + member.name;
    zip += "PK\x03\x04" + common + member.name + member.text;
  }
  return zip + directory + "PK\x05\x06" + bytes_of(0, 4) + bytes_of(members.size(), 2) + bytes_of(members.size(), 2) + bytes_of(directory.size(), 4) + bytes_of(zip.size(), 4) + bytes_of(0, 2);
}

/// A folder of files for one case.
struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / fmt::format("odrpo-rollouts-{}", ::getpid())).string();
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = std::filesystem::path(path) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string read(std::vector<std::string> names) const {
    for (std::string& name : names) name = path + "/" + name;
    return result_of([&] { return read_rollouts(names, {}); });
  }
};

Rollouts read_dump(const std::string& name) {
  const std::vector<std::string> paths = {source_path("tests/results/scores/rollouts/dumps/" + name)};
  return read_rollouts(paths, {});
}

/// The largest difference between the advantages that TRL logged and (r - mean) / (sd + 1e-4), r = judge + brevity / 2, or r - mean.
double largest_difference(const Rollouts& r, bool scaled) {
  REQUIRE(r.reward_names == std::vector<std::string>{"judge", "brevity"});
  const std::vector<double> weights = {1, 0.5}, total = r.total(weights);
  double largest = 0;
  for (const RolloutGroup& g : r.groups) {
    double mean = 0, squares = 0;
    for (std::uint32_t i = g.first; i < g.first + g.count; ++i) mean += total[i] / g.count;
    for (std::uint32_t i = g.first; i < g.first + g.count; ++i) squares += (total[i] - mean) * (total[i] - mean);
    const double scale = scaled ? std::sqrt(squares / (g.count - 1)) + 1e-4 : 1;
    for (std::uint32_t i = g.first; i < g.first + g.count; ++i) largest = std::max(largest, std::abs((total[i] - mean) / scale - r.advantage[i]));
  }
  return largest;
}

}  // namespace

TEST_CASE("dumps of rollouts: formats, groups, what is left out, and every mistake at its place", "[pages]") {
  check_cases("results/pages/rollouts.txt", result_of_case);
}

TEST_CASE("dumps of real trainers are read as they were written", "[pages]") {
  check_cases("results/pages/rollouts-dumps.txt", [](const std::string& name) { return shown(read_dump(name.substr(0, name.find('\n')))); });
}

TEST_CASE("groups of TRL's dumps are those whose advantages the trainer logged") {
  for (const auto& [name, scaled] : {std::pair{"trl-group.jsonl", true}, {"trl-none.jsonl", false}, {"trl-twice.jsonl", true}, {"trl-equal-prompts.jsonl", true},
                                     {"trl-three-iterations.jsonl", false}, {"trl-evaluation-of-two.jsonl", true}, {"trl-evaluation-of-four.jsonl", true}}) {
    CAPTURE(name);
    CHECK(largest_difference(read_dump(name), scaled) < 4e-6);  // the trainer computes in float32
  }
}

TEST_CASE("groups of verl's dump are those of its own advantages") {
  // step, prompt, rollout, score, length, and advantages of verl's functions
  const std::string text = read_bytes(source_path("tests/results/scores/rollouts/dumps/verl-advantages.csv"), {"", Exit::bad_input, 1u << 20});
  CsvReader reader(text);
  CsvErrors errors("");
  std::vector<CsvField> fields;
  REQUIRE(reader.next(fields, errors));
  const Rollouts r = read_dump("verl");
  std::size_t rows = 0;
  for (std::size_t g = 0; g < r.groups.size(); ++g)
    for (std::uint32_t i = 0; i < r.groups[g].count; ++i, ++rows) {
      REQUIRE(reader.next(fields, errors));
      const std::vector<double> found = {static_cast<double>(r.groups[g].step), static_cast<double>(g % 4), static_cast<double>(i), r.rewards[r.groups[g].first + i], r.length[r.groups[g].first + i]};
      for (std::size_t c = 0; c < found.size(); ++c) CHECK(number_of(std::string(fields[c].text)) == found[c]);
    }
  CHECK_FALSE(reader.next(fields, errors));
  CHECK(rows == 47);
}

TEST_CASE("folders stand for their files in the order of numbers, without evaluations and other formats beside them") {
  const Folder folder;
  const auto nemo = [](const char* words, int reward) { return fmt::format(R"({{"content":["{}"],"rewards":[{}],"idx":0}})", words, reward) + "\n"; };
  folder.write("nemo/train_data_step10.jsonl", nemo("a b", 1) + nemo("a c", 2));
  folder.write("nemo/train_data_step9.jsonl", nemo("a b", 3) + nemo("a c", 4));
  folder.write("nemo/val_data_step9.jsonl", nemo("a b", 3) + nemo("a c", 4));
  CHECK(folder.read({"nemo", "nemo/train_data_step9.jsonl"}) ==
        "nemo-rl rewards\n9 t089c0207b5452844: 3@0:1 4@0:2\n10 t089c0207b5452844: 1@1:1 2@1:2\nnote: 1 file left out: validation of NeMo RL\nnote: groups and prompts are found by the common beginning of rows\n");
  const auto trace = [](const char* id, int reward) { return fmt::format(R"({{"task":{{"key":"k"}},"group":{{"id":"g"}},"traces":[{{"id":"{}","rewards":{{"r":{{"score":{}}}}}}}]}})", id, reward) + "\n"; };
  for (const char* file : {"step_2/train/all", "step_10/train/all", "step_10/train/effective", "step_10/eval/all"})
    folder.write(std::string("prime/rollouts/") + file + "/traces.jsonl", trace("a", 1) + (std::string_view(file).ends_with("all") ? trace("b", 2) : ""));
  CHECK(folder.read({"prime"}) ==
        "prime-rl r\n2 k: 1@0:1 2@0:2\n10 k: 1@1:1\nnote: 1 file left out: evaluations of prime-rl\nnote: 1 file left out: the traces of them that were trained on are read from another file of their step\n"
        "note: step 10, the last, has 1 row, fewer than every other step: it may be cut off\n");
  folder.write("trl/completions_00001.parquet", "PAR1");
  CHECK(folder.read({"trl"}) == folder.path + "/trl: Parquet files: `python -m odrpo_bench convert " + folder.path + "/trl OUT.jsonl` makes JSON lines of their rows\n");
  folder.write("trl/completions.csv", "step,prompt,reward\n1,a,2\n1,a,3\n");
  CHECK(folder.read({"trl"}) == "csv reward\n1 a: 2@2 3@3\n");
  folder.write("none/notes.txt", "");
  CHECK(folder.read({"none"}) == folder.path + "/none: a folder without dumps of rollouts (.jsonl, .json, .csv, .tsv, packed or not)\n");
  CHECK_THROWS_AS(read_rollouts(std::vector{folder.path + "/absent.csv"}, {}), Failure);
}

TEST_CASE("packed dumps: gzip, and zip with files that are none") {
  const std::string one = "prompt,reward\na,1\na,2\n", two = "prompt,reward\nb,3\nb,4\n";
  CHECK(result_of([&] { return parse_rollouts({{"step7.csv.gz", gzip_of(one)}}, {}); }) == "csv reward\n7 a: 1@2 2@3\nnote: no column of steps: the number in the name of a file is its step\n");
  CHECK(result_of([&] { return parse_rollouts({{"all.zip", zip_of({{"run/9.csv", two}, {"run/10.csv", one}, {"run/notes.txt", "x"}, {"__MACOSX/9.csv", "x"}})}}, {}); }) ==
        "csv reward\n9 b: 3@1:2 4@1:3\n10 a: 1@0:2 2@0:3\nnote: no column of steps: the number in the name of a file is its step\n");
  CHECK(result_of([&] { return parse_rollouts({{"all.zip", zip_of({{"notes.txt", "x"}})}}, {}); }) == "all.zip: no dump of rollouts in it: .jsonl, .json, .csv or .tsv\n");
}

TEST_CASE("scores of NeMo RL are read from lists of one, as the trainer writes them") {
  std::string text;
  for (const char* prompt : {"Name a sea. ", "What is 2 + 2? "})
    for (int i = 0; i < 3; ++i) text += fmt::format(R"({{"content":["{}{}"],"rewards":[{}.0],"idx":0}})", prompt, static_cast<char>('a' + i), i + 1) + "\n";
  const ScoreTable t = parse_scores(text, "train_data_step1.jsonl");
  CHECK(t.prompts.size() == 2);
  CHECK(t.values == std::vector<double>{1, 2, 3});
  CHECK(t.level == std::vector<std::uint8_t>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("one training is the same from CSV, TSV, JSON lines, a list and packed files, in any order of steps") {
  std::mt19937_64 draw(51);
  for (int round = 0; round < 40; ++round) {
    struct Row {
      int step, prompt, reward, length;
    };
    std::vector<std::vector<Row>> steps;
    std::string wanted;
    for (int s = 0; s < 1 + static_cast<int>(draw() % 5); ++s) {
      steps.emplace_back();
      for (int p = 0; p < 1 + static_cast<int>(draw() % 4); ++p)
        for (int i = 0; i < 3 + static_cast<int>(draw() % 2); ++i) steps.back().push_back({s, p, static_cast<int>(draw() % 11) - 1, static_cast<int>(draw() % 99)});
    }
    std::vector<std::size_t> order(steps.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto in_format = [&](const std::string& head, const auto& line, const std::string& tail) {
      std::shuffle(order.begin(), order.end(), draw);
      std::string text = head;
      for (const std::size_t s : order)
        for (const Row& row : steps[s]) text += line(row);
      return text + tail;
    };
    const auto value = [](int reward) { return reward < 0 ? std::string() : std::to_string(reward); };
    const auto json = [&](const Row& row, const char* end) {
      return fmt::format(R"({{"reward":{},"extra":[1,{{"reward":2}}],"step":{},"prompt":"p{}","tokens":{}}}{})", row.reward < 0 ? "null" : value(row.reward), row.step, row.prompt, row.length, end);
    };
    const std::vector<NamedText> files = {
        {"f.csv", in_format("step,prompt,reward,tokens\n", [&](const Row& row) { return fmt::format("{},p{},{},{}\n", row.step, row.prompt, value(row.reward), row.length); }, "")},
        {"f.tsv", in_format("tokens\treward\tprompt\tstep\n", [&](const Row& row) { return fmt::format("{}\t{}\tp{}\t{}\n", row.length, value(row.reward), row.prompt, row.step); }, "")},
        {"f.jsonl", in_format("", [&](const Row& row) { return json(row, "\n"); }, "")},
        {"f.json", in_format("[", [&](const Row& row) { return json(row, ","); }, "]")}};
    for (const NamedText& file : files) {
      Rollouts r = parse_rollouts({file}, {});
      r.format.clear();
      for (LinePlace& place : r.place) place.line = 1;
      const std::string found = shown(r);
      if (wanted.empty()) wanted = found;
      CAPTURE(round, file.name, file.text);
      CHECK(found == wanted);
    }
  }
}
