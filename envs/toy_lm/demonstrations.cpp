// Writes a demonstration: claims in an allowed order with words between them, more words up to a length, then perhaps one flaw.
#include "envs/toy_lm/demonstrations.hpp"

#include <algorithm>
#include <iterator>

#include "envs/toy_lm/instructions.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

// Draws a stream of random words: number i is word i % 4 of counter block i / 4 of the random generator.
class HashStream {
 public:
  HashStream(std::uint64_t key, Purpose purpose, std::uint32_t step, std::uint32_t prompt)
      : key_(key), purpose_(purpose), step_(step), prompt_(prompt) {}
  std::uint32_t word() {
    if (count_ % 4 == 0) block_ = draw(key_, purpose_, step_, prompt_, count_ / 4);
    return block_.x[count_++ % 4];
  }
  int below(int n) { return static_cast<int>(uniform_below(word(), static_cast<std::uint32_t>(n))); }

 private:
  std::uint64_t key_;
  Purpose purpose_;
  std::uint32_t step_, prompt_, count_ = 0;
  Words4 block_{};
};

// A body under construction. push() refuses any word that would break the requirements repetition or padding.
struct Draft {
  const Vocabulary& v;
  int least;  ///< least final length; at most half of it may be fillers and plain words
  std::vector<Token> body;
  int padding = 0;

  bool push(Token word) {
    const WordClass c = v.class_of[word];
    const bool pads = c == WordClass::plain || c == WordClass::filler;
    if (!body.empty() && body.back() == word) return false;
    if (c != WordClass::separator && std::count(body.begin(), body.end(), word) >= most_uses) return false;
    if (pads && 2 * (padding + 1) > least) return false;
    padding += pads;
    body.push_back(word);
    return true;
  }
};

Token any_of(const Vocabulary& v, WordClass c, HashStream& h) { return v.word(c, h.below(v.count(c))); }

// Draws both keywords, one to three facts of the context and perhaps a word of tone, in an order that the prompt's kind allows.
std::vector<Token> choose_claims(const ToyLm& world, const ToyPrompt& p, HashStream& h) {
  const Vocabulary& v = world.vocabulary;
  std::vector<Token> items(p.facts.begin(), p.facts.end());
  for (int drop = h.below(toy_facts); drop > 0; --drop) items.erase(items.begin() + h.below(static_cast<int>(items.size())));
  const bool paper = world.config.difficulty == Difficulty::paper;
  for (const Token keyword : p.keywords)
    if (!paper || h.below(2) == 0) items.push_back(keyword);
  // two of five demonstrations get a word of the persona's tone, one of five a word of any tone
  const int tone = h.below(5);
  if (tone < 2) items.push_back(v.word(WordClass::tone, p.persona * tone_words_each + h.below(tone_words_each)));
  else if (tone == 2) items.push_back(any_of(v, WordClass::tone, h));
  for (std::size_t i = items.size() - 1; i > 0; --i) std::swap(items[i], items[static_cast<std::size_t>(h.below(static_cast<int>(i) + 1))]);
  if (paper) return items;
  const auto first = std::find(items.begin(), items.end(), p.keywords[0]), second = std::find(items.begin(), items.end(), p.keywords[1]);
  if (p.kind == KeywordOrder::opening) std::iter_swap(first, items.begin());
  else if ((first < second) != (p.kind == KeywordOrder::in_order)) std::iter_swap(first, second);
  return items;
}

std::vector<Token> write_draft(const ToyLm& world, const ToyPrompt& p, LengthRange range, HashStream& h) {
  const Vocabulary& v = world.vocabulary;
  const int length = range.least + h.below(std::min(range.most - range.least, 5) + 1);
  Draft draft{v, range.least, {}};
  const std::vector<Token> items = choose_claims(world, p, h);
  for (std::size_t i = 0; i < items.size(); ++i) {
    draft.push(items[i]);
    const int room = range.most - static_cast<int>(draft.body.size() + items.size() - i - 1);
    const int gap = h.below(20);  // of 20: 6 connectives, 5 ends of a sentence, 2 plain words, 1 filler, 6 nothing
    if (room <= 0 || i + 1 == items.size()) continue;
    if (gap < 6) draft.push(any_of(v, WordClass::connective, h));
    else if (gap < 11) draft.push(v.separator());
    else if (gap < 13) draft.push(any_of(v, WordClass::plain, h));
    else if (gap < 14) draft.push(any_of(v, WordClass::filler, h));
  }
  // a word that push() refuses is drawn again; the loop ends, because a separator or a connective always fits at last
  while (static_cast<int>(draft.body.size()) < length) {
    const int fill = h.below(10);
    if (fill < 4) draft.push(any_of(v, WordClass::plain, h));
    else if (fill < 6) draft.push(p.facts[static_cast<std::size_t>(h.below(toy_facts))]);
    else if (fill < 8) draft.push(any_of(v, WordClass::connective, h));
    else if (fill < 9) draft.push(v.separator());
    else draft.push(any_of(v, WordClass::filler, h));
  }
  return draft.body;
}

constexpr LengthRange paper_range{6, 14};  // of drafts in worlds of difficulty `paper`, whose prompts ask for no length

// Writes a draft that violates nothing and follows the instructions that it obeys, each that is heeded with probability obeyed_share. After most_drafts
// in vain it obeys none.
std::vector<Token> write_obedient(const ToyLm& world, const ToyPrompt& p, double obeyed_share, HashStream& h) {
  constexpr int most_drafts = 24;
  std::vector<Instruction> obeyed;
  for (int i = 0; i < p.instructions; ++i)
    if (const Instruction asked = p.instruction[static_cast<std::size_t>(i)]; static_cast<double>(h.word()) * 0x1p-32 < obeyed_share && is_heeded(asked, p.persona))
      obeyed.push_back(asked);
  std::sort(obeyed.begin(), obeyed.end());  // what erases words first, what needs the first or the last word at the end
  for (int drafts = 0;; ++drafts) {
    if (drafts == most_drafts) obeyed.clear();
    std::vector<Token> body = write_draft(world, p, paper_range, h);
    for (const Instruction i : obeyed) obey(i, world, p, [&](int n) { return h.below(n); }, body);
    body.push_back(world.vocabulary.end());
    const Text text = read_text(world, p, body);
    const bool good = find_violations(text) == 0 && std::all_of(obeyed.begin(), obeyed.end(), [&](Instruction i) { return follows(i, text); });
    body.pop_back();
    if (good) return body;
  }
}

std::vector<Token> write_clean(const ToyLm& world, const ToyPrompt& p, double obeyed_share, HashStream& h) {
  if (world.config.difficulty == Difficulty::paper) return write_obedient(world, p, obeyed_share, h);
  return write_draft(world, p, world.range[static_cast<int>(p.length)], h);
}

// Draws an index of the body, `from` or later, at which no required keyword stands; with instructions none is.
std::size_t free_place(const std::vector<Token>& body, const ToyPrompt& p, std::size_t from, HashStream& h) {
  while (true) {
    const std::size_t at = from + static_cast<std::size_t>(h.below(static_cast<int>(body.size() - from)));
    if (p.instructions > 0 || (body[at] != p.keywords[0] && body[at] != p.keywords[1])) return at;
  }
}

void break_order(std::vector<Token>& body, const ToyPrompt& p, HashStream& h) {
  if (p.kind == KeywordOrder::opening) {
    std::swap(body[0], body[free_place(body, p, 1, h)]);
  } else {
    std::iter_swap(std::find(body.begin(), body.end(), p.keywords[0]), std::find(body.begin(), body.end(), p.keywords[1]));
  }
}

void break_length(std::vector<Token>& body, const ToyLm& world, const ToyPrompt& p, HashStream& h) {
  const LengthRange range = world.range[static_cast<int>(p.length)];
  const int most = std::min(range.most + 4, world.config.response_tokens - 1);
  if (most == range.most || h.below(2) == 0) {
    body.resize(static_cast<std::size_t>(range.least - 1 - h.below(3)));
    return;
  }
  const std::size_t length = static_cast<std::size_t>(range.most + 1 + h.below(most - range.most));
  while (body.size() < length) body.push_back(any_of(world.vocabulary, body.size() % 2 ? WordClass::plain : WordClass::connective, h));
}

void break_one(Requirement r, std::vector<Token>& body, const ToyLm& world, const ToyPrompt& p, HashStream& h) {
  const Vocabulary& v = world.vocabulary;
  const auto place = [&](std::size_t from = 0) { return free_place(body, p, from, h); };
  switch (r) {
    case Requirement::safety: body[place()] = any_of(v, WordClass::forbidden, h); return;
    case Requirement::factuality: {
      Token foreign = p.facts[0];
      while (std::find(p.facts.begin(), p.facts.end(), foreign) != p.facts.end()) foreign = any_of(v, WordClass::fact, h);
      body[place()] = foreign;
      return;
    }
    case Requirement::keywords: {
      Token other = p.keywords[0];
      while (other == p.keywords[0] || other == p.keywords[1]) other = any_of(v, WordClass::keyword, h);
      std::replace(body.begin(), body.end(), p.keywords[static_cast<std::size_t>(h.below(2))], other);
      return;
    }
    case Requirement::order: return break_order(body, p, h);
    case Requirement::length: return break_length(body, world, p, h);
    case Requirement::integrity: body[place()] = world.config.difficulty == Difficulty::paper ? p.words[h.below(2) == 0 ? 3 : 7] : p.words[h.below(3) == 0 ? 3 : 6 + static_cast<std::size_t>(h.below(2))]; return;
    case Requirement::repetition: {
      const std::size_t at = place(1);
      body[at] = body[at - 1];
      return;
    }
    case Requirement::padding: {
      const auto pads = [&](Token t) { return v.class_of[t] == WordClass::plain || v.class_of[t] == WordClass::filler; };
      while (2 * static_cast<std::size_t>(std::count_if(body.begin(), body.end(), pads)) <= body.size())
        body[place()] = any_of(v, h.below(3) == 0 ? WordClass::filler : WordClass::plain, h);
      return;
    }
    case Requirement::end: return;  // not among the flaws
  }
}

}  // namespace

bool is_heeded(Instruction instruction, int persona) { return (static_cast<int>(instruction) + persona) % toy_personas != 0; }

std::vector<Token> demonstration(const ToyLm& world, const ToyPrompt& prompt, const DemonstrationConfig& config, std::uint32_t index) {
  HashStream h(world.key, Purpose::toy_demonstration, index, prompt.index);
  const bool flawed = static_cast<double>(h.word()) * 0x1p-32 < config.flaw_share;
  const bool paper = world.config.difficulty == Difficulty::paper;
  const std::span<const Requirement> flaws = paper ? std::span<const Requirement>(paper_flaws) : demonstrated_flaws;
  const Requirement flaw = flaws[static_cast<std::size_t>(h.below(static_cast<int>(flaws.size())))];
  std::vector<Token> response = write_clean(world, prompt, config.obeyed_share, h);
  if (flawed) break_one(flaw, response, world, prompt, h);
  response.push_back(world.vocabulary.end());
  return response;
}

}  // namespace odrpo
