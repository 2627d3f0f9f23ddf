// Checks instructions on the words of a response, and changes drafts of demonstrations so that they follow them.
#include "envs/toy_lm/instructions.hpp"

#include <algorithm>

namespace odrpo {
namespace {

constexpr int least_words = 11, most_sentences = 3;  // of the instructions `at-least` and `sentences`

/// A sentence of a body: its words begin .. end - 1, at least one.
struct Sentence {
  int begin, end;
};

std::vector<Sentence> sentences_of(std::span<const Token> body, Token separator) {
  std::vector<Sentence> sentences;
  int begin = 0;
  const int n = static_cast<int>(body.size());
  for (int i = 0; i <= n; ++i) {
    if (i < n && body[i] != separator) continue;
    if (i > begin) sentences.push_back({begin, i});
    begin = i + 1;
  }
  return sentences;
}

Token and_word(const Vocabulary& v) { return v.word(WordClass::connective, 0); }
Token then_word(const Vocabulary& v) { return v.word(WordClass::connective, toy_connectives - 1); }

bool is_of_context(const ToyPrompt& p, Token word) { return std::find(p.facts.begin(), p.facts.end(), word) != p.facts.end(); }

}  // namespace

bool follows(Instruction instruction, const Text& t) {
  const Vocabulary& v = t.vocabulary();
  const ToyPrompt& p = *t.prompt;
  const auto times = [&](Token word) { return std::count(t.body.begin(), t.body.end(), word); };
  const auto of_class = [&](WordClass c) { return std::count(t.class_of.begin(), t.class_of.begin() + t.length(), c); };
  const auto begins = [&](const Sentence& s, Token word) { return t.body[static_cast<std::size_t>(s.begin)] == word; };
  const int n = t.length();
  switch (instruction) {
    case Instruction::forbidden: return times(p.keywords[1]) == 0;
    case Instruction::lowercase: return of_class(WordClass::tone) == 0;
    case Instruction::no_comma: return times(and_word(v)) == 0;
    case Instruction::existence: return times(p.keywords[0]) > 0 && times(p.keywords[1]) > 0;
    case Instruction::frequency: return times(p.keywords[0]) >= 2;
    case Instruction::letters: return of_class(WordClass::connective) >= 3;
    case Instruction::placeholders: return of_class(WordClass::plain) >= 2;
    case Instruction::capitals: return of_class(WordClass::tone) >= 2;
    case Instruction::highlight:
      for (int i = 1; i < n; ++i)
        if (t.class_of[i - 1] == WordClass::tone && is_of_context(p, t.body[i])) return true;
      return false;
    case Instruction::at_least: return n >= least_words;
    case Instruction::repeat_prompt: return n >= 2 && t.body[0] == p.facts[0] && t.body[1] == p.facts[1];
    case Instruction::quotation: return n >= 2 && t.body.front() == t.body.back();
    case Instruction::end_checker: return n > 0 && t.body.back() == p.keywords[1];
    default: break;
  }
  const std::vector<Sentence> sentences = sentences_of(t.body, v.separator());
  const bool several = sentences.size() > 1;
  switch (instruction) {
    case Instruction::sentences: return !sentences.empty() && sentences.size() <= most_sentences;
    case Instruction::bullets: return std::count_if(sentences.begin(), sentences.end(), [&](const Sentence& s) { return begins(s, and_word(v)); }) == 2;
    case Instruction::paragraph: return several && begins(sentences[1], p.keywords[0]);
    case Instruction::title: return several && sentences[0].begin == 0 && sentences[0].end == 2;
    case Instruction::postscript: return several && begins(sentences.back(), then_word(v));
    default: return false;
  }
}

void obey(Instruction instruction, const ToyLm& world, const ToyPrompt& p, const std::function<int(int)>& below, std::vector<Token>& body) {
  const Vocabulary& v = world.vocabulary;
  const Token stop = v.separator();
  const auto size = [&] { return static_cast<int>(body.size()); };
  const auto insert = [&](int at, Token word) { body.insert(body.begin() + std::min(at, size()), word); };
  const auto anywhere = [&](Token word) { insert(below(size() + 1), word); };
  const auto count = [&](WordClass c) { return std::count_if(body.begin(), body.end(), [&](Token t) { return v.class_of[t] == c; }); };
  const auto fill = [&](WordClass c, int wanted, int at, int from) {  // with words from and from + 1 of the class, in turn
    for (auto have = count(c); have < wanted; ++have) insert(at, v.word(c, from + static_cast<int>(have % 2)));
  };
  const auto times = [&](Token word) { return std::count(body.begin(), body.end(), word); };
  const auto close = [&] {  // ends the last sentence
    if (body.empty() || body.back() != stop) body.push_back(stop);
  };
  const auto split = [&](std::size_t wanted) {  // makes at least so many sentences
    for (int tries = 0; sentences_of(body, stop).size() < wanted && tries < 8; ++tries)
      if (size() > 2) insert(1 + below(size() - 1), stop);
  };
  switch (instruction) {
    case Instruction::forbidden: std::erase(body, p.keywords[1]); return;
    case Instruction::lowercase: std::erase_if(body, [&](Token t) { return v.class_of[t] == WordClass::tone; }); return;
    case Instruction::no_comma: std::erase(body, and_word(v)); return;
    case Instruction::existence:
      for (const Token key : p.keywords)
        if (times(key) == 0) insert(0, key);
      return;
    case Instruction::frequency:
      while (times(p.keywords[0]) < 2) anywhere(p.keywords[0]);
      return;
    case Instruction::letters: return fill(WordClass::connective, 3, 1, 1);
    case Instruction::placeholders: return fill(WordClass::plain, 2, 0, 0);
    case Instruction::capitals: return fill(WordClass::tone, 2, 0, p.persona * tone_words_each);
    case Instruction::highlight: {
      const Token tone = v.word(WordClass::tone, p.persona * tone_words_each + below(tone_words_each)), fact = p.facts[static_cast<std::size_t>(below(toy_facts))];
      const auto at = std::find(body.begin(), body.end(), fact);
      if (at == body.end()) body.push_back(tone), body.push_back(fact);
      else body.insert(at, tone);
      return;
    }
    case Instruction::sentences:
      for (int i = 0, stops = 0; i < size();)
        if (body[static_cast<std::size_t>(i)] == stop && ++stops >= most_sentences) body.erase(body.begin() + i);
        else ++i;
      return;
    case Instruction::bullets:  // the second one after two words
      std::erase(body, and_word(v));
      insert(0, and_word(v)), insert(3, stop), insert(4, and_word(v));
      return;
    case Instruction::paragraph:
      split(2);
      if (const auto made = sentences_of(body, stop); made.size() > 1) {
        if (const int at = made[1].begin; body[static_cast<std::size_t>(at)] == and_word(v) && p.asks(Instruction::bullets)) insert(at, stop), insert(at, p.facts[0]);
        insert(made[1].begin, p.keywords[0]);
      }
      return;
    case Instruction::at_least:
      while (size() < least_words) body.push_back(size() % 2 == 0 ? v.word(WordClass::connective, 1) : p.facts[static_cast<std::size_t>(below(toy_facts))]);
      return;
    case Instruction::repeat_prompt: insert(0, p.facts[1]), insert(0, p.facts[0]); return;
    case Instruction::title: {
      for (int i = 0; i < std::min(size(), 2);)
        if (body[static_cast<std::size_t>(i)] == stop) body.erase(body.begin() + i);
        else ++i;
      if (size() > 2 && body[2] != stop) insert(2, stop);
      return;
    }
    case Instruction::postscript: close(), body.push_back(then_word(v)), body.push_back(p.facts[static_cast<std::size_t>(below(toy_facts))]); return;
    case Instruction::quotation:
      if (body.empty() || body.front() == body.back()) return;
      if (p.asks(Instruction::end_checker)) insert(0, Token(body.back()));
      else body.push_back(Token(body.front()));
      return;
    case Instruction::end_checker:
      if (!body.empty() && body.back() == p.keywords[1]) return;
      body.push_back(p.keywords[1]);
      return;
  }
}

}  // namespace odrpo
