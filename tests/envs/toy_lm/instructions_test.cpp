// The instructions of difficulty `paper`: what follows each and what does not, what prompts ask, what can be earned, and how often demonstrations obey.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>

#include "tests/catch.hpp"
#include "envs/toy_lm/demonstrations.hpp"
#include "envs/toy_lm/held_out.hpp"
#include "envs/toy_lm/instructions.hpp"
#include "kernels/random.hpp"
#include "tests/envs/toy_lm/prompt.hpp"

namespace odrpo {
namespace {

using toy_test::of;
using toy_test::words;

const ToyLm& paper() {
  static const ToyLm w = make_toy_lm({.prompts = 2000, .difficulty = Difficulty::paper}, 5);
  return w;
}

/// Context fact0 fact1 fact2, keywords key0 key1, persona 0 ("formal").
ToyPrompt asking(std::initializer_list<Instruction> instructions) {
  const Vocabulary& v = paper().vocabulary;
  ToyPrompt p;
  for (int i = 0; i < toy_facts; ++i) p.facts[i] = v.word(WordClass::fact, i);
  for (int i = 0; i < 2; ++i) p.keywords[i] = v.word(WordClass::keyword, i);
  for (const Instruction i : instructions) p.instruction[p.instructions++] = i;
  return p;
}

struct Example {
  Instruction instruction;
  const char *follows, *does_not;
};
constexpr Example examples[] = {
    {Instruction::forbidden, "key0 so fact0 <end>", "key0 so key1 <end>"},
    {Instruction::lowercase, "key0 so fact0 <end>", "key0 so fact0 . tone2.1 <end>"},
    {Instruction::no_comma, "key0 so fact0 <end>", "key0 and fact0 <end>"},
    {Instruction::existence, "key1 so key0 <end>", "key1 so fact0 key1 <end>"},
    {Instruction::frequency, "key0 so fact0 . key0 plain1 <end>", "key0 so key1 . key1 <end>"},
    {Instruction::letters, "so then so <end>", "so then fact0 <end>"},
    {Instruction::placeholders, "plain0 so plain0 <end>", "plain0 so well <end>"},
    {Instruction::capitals, "tone0.0 fact0 tone3.1 <end>", "tone0.0 fact0 <end>"},
    {Instruction::highlight, "key0 tone1.0 fact2 <end>", "fact2 tone1.0 fact3 <end>"},
    {Instruction::sentences, ". fact0 . fact1 . . fact2 . <end>", "fact0 . fact1 . fact2 . key0 <end>"},
    {Instruction::bullets, "and fact0 . so . and key0 <end>", "and fact0 . so and fact1 <end>"},
    {Instruction::paragraph, "fact0 . key0 fact1 . fact2 <end>", "key0 fact0 . fact1 . key0 <end>"},
    {Instruction::at_least, "fact0 . fact1 . fact2 . fact0 so key0 . key1 <end>", "fact0 . fact1 . fact2 . fact0 so key0 . <end>"},
    {Instruction::repeat_prompt, "fact0 fact1 so key0 <end>", "fact1 fact0 so key0 <end>"},
    {Instruction::title, "fact0 key0 . fact1 <end>", "fact0 key0 <end>"},
    {Instruction::postscript, "fact0 . then fact1 . <end>", "fact0 then fact1 <end>"},
    {Instruction::quotation, "key0 so fact0 . key0 <end>", "key0 so fact0 . key1 <end>"},
    {Instruction::end_checker, "fact0 . key1 <end>", "key1 . fact0 <end>"},
};

/// Everything that a prompt of the world may ask, with how often the first prompts ask it.
std::map<std::set<Instruction>, int> asked(std::uint32_t from, int count) {
  std::map<std::set<Instruction>, int> met;
  for (const ToyPrompt& p : make_prompts(paper(), from, count)) {
    std::set<Instruction> all(p.instruction.begin(), p.instruction.begin() + p.instructions);
    REQUIRE(static_cast<int>(all.size()) == p.instructions);
    ++met[all];
  }
  return met;
}

}  // namespace

TEST_CASE("each instruction has a response that follows it and one that does not") {
  REQUIRE(std::size(examples) == toy_instruction_kinds);
  std::set<Instruction> seen;
  for (const Example& e : examples) {
    INFO(instruction_words[static_cast<int>(e.instruction)].word);
    const ToyPrompt p = asking({e.instruction});
    CHECK(seen.insert(e.instruction).second);
    CHECK(instruction_words[static_cast<int>(e.instruction)].value == e.instruction);
    CHECK(of([&](const Text& t) { return follows(e.instruction, t); }, paper(), p, e.follows));
    CHECK_FALSE(of([&](const Text& t) { return follows(e.instruction, t); }, paper(), p, e.does_not));
    CHECK(of(instruction_points, paper(), p, e.follows) == 64);
    CHECK(of(instruction_points, paper(), p, e.does_not) == 0);
    const ToyPrompt two = asking({e.instruction, e.instruction == Instruction::at_least ? Instruction::sentences : Instruction::at_least});
    const auto other = [&](const char* text) { return of([&](const Text& t) { return follows(two.instruction[1], t); }, paper(), two, text); };
    CHECK(of(instruction_points, paper(), two, e.follows) == (other(e.follows) ? 64 : 32));
    CHECK(of(instruction_points, paper(), two, e.does_not) == (other(e.does_not) ? 32 : 0));
  }
}

TEST_CASE("an empty response follows only what forbids words") {
  for (const auto& row : instruction_words) {
    const bool none = row.value == Instruction::forbidden || row.value == Instruction::lowercase || row.value == Instruction::no_comma;
    CHECK(of([&](const Text& t) { return follows(row.value, t); }, paper(), asking({row.value}), "<end>") == none);
  }
}

TEST_CASE("prompts ask one or two instructions that agree, held-out ones two and pairs that training never meets") {
  const auto trained = asked(0, 2000), held_out = asked(2000, 4000);
  int single = 0, unmet = 0;
  std::set<std::set<Instruction>> contradicting;
  for (const auto& [a, b] : {std::pair(Instruction::forbidden, Instruction::existence), std::pair(Instruction::forbidden, Instruction::end_checker),
                             std::pair(Instruction::lowercase, Instruction::capitals), std::pair(Instruction::lowercase, Instruction::highlight),
                             std::pair(Instruction::no_comma, Instruction::bullets)})
    contradicting.insert({a, b});
  std::set<Instruction> alone;
  for (const auto& [all, times] : trained) {
    CHECK_FALSE(contradicting.contains(all));
    if (all.size() == 1) single += times, alone.insert(*all.begin());
  }
  CHECK(alone.size() == toy_instruction_kinds);
  CHECK(std::abs(single - 1000) < 4 * 22.4);  // half of 2000, within four standard deviations
  for (const auto& [all, times] : held_out) {
    CHECK(all.size() == 2);
    CHECK_FALSE(contradicting.contains(all));
    if (!trained.contains(all)) unmet += times;
  }
  CHECK(held_out.size() == 18 * 17 / 2 - 5);  // every pair that agrees
  CHECK(unmet > 4000 / 4);
  CHECK(unmet < 4000 / 2);
}

TEST_CASE("the words of a prompt say what it asks") {
  const Vocabulary& v = paper().vocabulary;
  for (const ToyPrompt& p : make_prompts(paper(), 1990, 20)) {
    CHECK(word_text(v, p.words[3]) == instruction_words[static_cast<int>(p.instruction[0])].word);
    CHECK(word_text(v, p.words[6]) == (p.instructions == 2 ? std::string(instruction_words[static_cast<int>(p.instruction[1])].word) : "."));
    CHECK((v.class_of[p.words[4]] == WordClass::keyword && v.class_of[p.words[7]] == WordClass::persona));
  }
  CHECK(v.count(WordClass::kind) == toy_instruction_kinds);
  CHECK(v.count(WordClass::length) == 0);
  const Vocabulary least = make_vocabulary(least_paper_vocabulary, Difficulty::paper);
  CHECK((least.count(WordClass::fact) == 4 && least.count(WordClass::keyword) == 4 && least.count(WordClass::plain) >= 2 && least.begin[word_classes] == least_paper_vocabulary));
}

// A random search that keeps the better of two drafts. What it finds is a lower bound of what can be earned, and 10 is the most there is.
TEST_CASE("every pair of instructions has a response worth 10 for every persona") {
  const auto pairs = asked(2000, 4000);
  int searched = 0;
  for (const auto& [all, times] : pairs)
    for (int persona = 0; persona < toy_personas; ++persona) {
      ToyPrompt p = asking({});
      for (const Instruction i : all) p.instruction[p.instructions++] = i;
      p.persona = persona;
      INFO(instruction_words[static_cast<int>(p.instruction[0])].word << " " << instruction_words[static_cast<int>(p.instruction[1])].word << " " << persona);
      std::uint32_t number = 0;
      const auto below = [&](int n) { return static_cast<int>(uniform_below(draw(31, Purpose::toy_demonstration, persona, searched, number++).x[0], n)); };
      const Vocabulary& v = paper().vocabulary;
      const Token tone = v.word(WordClass::tone, persona * tone_words_each);
      int best = 0;
      for (int tries = 0; tries < 4000 && best < 160; ++tries) {
        std::vector<std::vector<Token>> parts = {{p.facts[0], v.word(WordClass::connective, 1 + below(2)), p.facts[1]}, {p.facts[2], p.keywords[0]}, {tone, p.keywords[1]}};
        if (below(2) == 0) parts = {{p.facts[0], p.facts[1]}, {p.facts[2], v.word(WordClass::connective, 1 + below(2)), p.facts[0]}, {tone, p.facts[2]}};
        if (p.asks(Instruction::lowercase)) parts.back()[0] = p.facts[1];
        if (below(4) == 0) parts.insert(parts.begin(), {p.keywords[0], p.facts[1]});
        if (below(3) == 0) std::swap(parts[0], parts[1]);
        std::vector<Token> body;
        for (const auto& part : parts) {
          if (!body.empty() && below(4) > 0) body.push_back(v.separator());
          body.insert(body.end(), part.begin(), part.end());
        }
        std::vector<Instruction> order(all.begin(), all.end());
        if (below(2) == 0) std::swap(order[0], order[1]);
        for (const Instruction i : order) obey(i, paper(), p, below, body);
        for (int edits = below(3); edits > 0 && body.size() > 3; --edits)
          if (below(2) == 0) body.erase(body.begin() + below(static_cast<int>(body.size())));
          else body.insert(body.begin() + below(static_cast<int>(body.size())), v.separator());
        body.push_back(v.end());
        best = std::max(best, judge(paper(), p, body).quality16());
      }
      CHECK(best == 160);
      ++searched;
    }
  CHECK(searched == 148 * toy_personas);
}

TEST_CASE("demonstrations obey what their persona heeds as often as they are told, and are clean or flawed as elsewhere") {
  for (const auto& row : instruction_words) {
    int heeding = 0;
    for (int persona = 0; persona < toy_personas; ++persona) heeding += is_heeded(row.value, persona);
    CHECK(heeding == toy_personas - 1);
  }
  for (const double obeyed : {0.0, 0.5, 1.0}) {
    DemonstrationConfig config;
    config.obeyed_share = obeyed;
    double clean = 0, followed[2] = {}, asked_for[2] = {};  // of clean demonstrations; [1]: heeded
    const int n = 8000;
    for (int i = 0; i < n; ++i) {
      const ToyPrompt p = make_prompt(paper(), static_cast<std::uint32_t>(i % 2000));
      const std::vector<Token> response = demonstration(paper(), p, config, static_cast<std::uint32_t>(i / 2000));
      REQUIRE(response.size() <= 24);
      REQUIRE(response.back() == paper().vocabulary.end());
      const Text t = read_text(paper(), p, response);
      if (!judge_text(t).clean()) continue;
      clean += 1;
      for (int k = 0; k < p.instructions; ++k) {
        const bool heeded = is_heeded(p.instruction[k], p.persona);
        followed[heeded] += follows(p.instruction[k], t), asked_for[heeded] += 1;
      }
    }
    const double overlooked = followed[0] / asked_for[0], heeded = followed[1] / asked_for[1];
    INFO("obeyed_share " << obeyed << ": heeded " << heeded << ", overlooked " << overlooked);
    CHECK(std::abs(clean / n - 0.5) < 4 * 0.5 / std::sqrt(n));
    CHECK(overlooked < 0.4);
    if (obeyed == 0) CHECK(std::abs(heeded - overlooked) < 0.06);
    if (obeyed == 1) CHECK(heeded > 0.98);  // a rare pair is not reached by chance in the drafts that are tried
  }
}

TEST_CASE("grounding is graded fact by fact") {
  const ToyPrompt p = asking({Instruction::existence});
  const auto facts = [&](const char* text) { return of(stated_facts, paper(), p, text); };
  CHECK((facts("fact0 so fact1 . fact0 fact2 <end>").stated == 3 && facts("fact0 so fact1 . fact0 fact2 <end>").foreign == 0));
  CHECK((facts("fact3 so fact1 . fact3 fact4 <end>").stated == 1 && facts("fact3 so fact1 . fact3 fact4 <end>").foreign == 2));
  CHECK((facts("key0 <end>").stated == 0 && facts("key0 <end>").all() == 3));

  // judges without errors give the Jaccard index of both sets of facts; with errors the mean over facts of their probabilities of a yes
  const char* texts[] = {"fact0 so fact1 . fact2 <end>", "fact3 so fact1 . fact3 fact4 <end>", "key0 so fact0 <end>", "fact0 fact1 fact2"};
  const double jaccard[] = {1, 1.0 / 5, 1.0 / 3, 0};  // the last one has not ended
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    std::vector<Token> row = words(paper(), texts[i]);
    row.resize(24, i == 3 ? paper().vocabulary.word(WordClass::plain, 0) : paper().vocabulary.end());
    const GroundingConfig exact{{1, 1}, {1, 1}};
    CHECK(grounding({&paper(), {&p, 1}, row, 24}, exact, 3, 7).mean == Approx(jaccard[i]).margin(1e-12));
    double sum = 0;
    const int n = 4000;
    const GroundingConfig usual;
    const Text t = read_text(paper(), p, row);
    const StatedFacts f = stated_facts(t);
    double expected = 0;
    for (int j = 0; j < 2; ++j) expected += (f.stated * usual.sensitivity[j] + (f.all() - f.stated) * (1 - usual.specificity[j])) / f.all() / 2;
    for (std::uint32_t step = 0; step < n; ++step) sum += grounding({&paper(), {&p, 1}, row, 24}, usual, 11, step).mean;
    CHECK(std::abs(sum / n - (i == 3 ? 0 : expected)) < 4 * 0.35 / std::sqrt(n));
  }
}

/// Responses in rows of 24 tokens, filled up with the end word.
static std::vector<Token> responses(std::initializer_list<const char*> texts) {
  std::vector<Token> rows;
  for (const char* text : texts) {
    std::vector<Token> row = words(paper(), text);
    row.resize(24, paper().vocabulary.end());
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

TEST_CASE("instruction following of held-out prompts counts their two instructions") {
  const ToyPrompt p = asking({Instruction::title, Instruction::end_checker});
  std::vector<ToyPrompt> prompts(3, p);
  const std::vector<Token> rows = responses({"fact0 key0 . fact1 key1 <end>", "fact0 . fact1 key1 <end>", "fact0 . fact1 key1 fact2 <end>"});
  const InstructionScores s = instruction_following({&paper(), prompts, rows, 24});
  CHECK(s.prompt_strict.mean == Approx(1.0 / 3));
  CHECK(s.instruction_strict.mean == Approx((1 + 0.5 + 0) / 3));
  CHECK(s.prompt_loose.mean == Approx(1.0 / 3));  // without its last word the third response ends with key1
  CHECK(s.instruction_loose.mean == Approx((1 + 0.5 + 0.5) / 3));
}

TEST_CASE("shares by kind of instruction: the responses that were asked for it, as written") {
  const ToyPrompt p = asking({Instruction::title, Instruction::end_checker}), other = asking({Instruction::end_checker, Instruction::no_comma});
  const std::vector<ToyPrompt> prompts = {p, p, other};
  const std::vector<Token> rows = responses({"fact0 key0 . fact1 key1 <end>", "fact0 . fact1 key1 <end>", "fact0 and fact1 <end>"});
  const auto shares = followed_by_kind({&paper(), prompts, rows, 24});
  const auto of = [&](Instruction kind) { return shares[static_cast<std::size_t>(kind)]; };
  CHECK(of(Instruction::title) == Approx(1.0 / 2));
  CHECK(of(Instruction::end_checker) == Approx(2.0 / 3));
  CHECK(of(Instruction::no_comma) == 0);
  CHECK(std::isnan(of(Instruction::bullets)));
}

}  // namespace odrpo
