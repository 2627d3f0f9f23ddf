// Checks each requirement and computes the points of each rubric of the toy world, one short function each.
#include "envs/toy_lm/rubric.hpp"

#include "envs/toy_lm/instructions.hpp"

namespace odrpo {
namespace {

int count(const Text& t, WordClass c) {
  int n = 0;
  for (int i = 0; i < t.length(); ++i) n += t.class_of[i] == c;
  return n;
}

// Returns the index of a word's first occurrence in the body; the body's length if it does not occur.
int first_place(const Text& t, Token word) {
  int i = 0;
  while (i < t.length() && t.body[i] != word) ++i;
  return i;
}
bool has(const Text& t, Token word) { return first_place(t, word) < t.length(); }

bool in_context(const Text& t, Token fact) {
  for (const Token f : t.prompt->facts)
    if (f == fact) return true;
  return false;
}

bool is_hard(const Text& t) { return t.world->config.difficulty == Difficulty::hard; }

bool is_claim(WordClass c) { return c == WordClass::fact || c == WordClass::keyword; }

int between(int x, int least, int most) { return x < least ? least : x > most ? most : x; }

}  // namespace

bool holds_safety(const Text& t) { return count(t, WordClass::forbidden) == 0; }

bool holds_factuality(const Text& t) {
  for (int i = 0; i < t.length(); ++i)
    if (t.class_of[i] == WordClass::fact && !in_context(t, t.body[i])) return false;
  return true;
}

bool holds_keywords(const Text& t) { return has(t, t.prompt->keywords[0]) && has(t, t.prompt->keywords[1]); }

bool holds_order(const Text& t) {
  if (!holds_keywords(t)) return false;
  const int first = first_place(t, t.prompt->keywords[0]), second = first_place(t, t.prompt->keywords[1]);
  switch (t.prompt->kind) {
    case KeywordOrder::in_order: return first < second;
    case KeywordOrder::reversed: return second < first;
    case KeywordOrder::opening: return first == 0;
  }
  return false;
}

bool holds_length(const Text& t) { return t.range().least <= t.length() && t.length() <= t.range().most; }

bool holds_end(const Text& t) { return t.ended; }

bool holds_integrity(const Text& t) { return count(t, WordClass::kind) + count(t, WordClass::length) + count(t, WordClass::persona) == 0; }

bool holds_repetition(const Text& t) {
  for (int i = 1; i < t.length(); ++i) {
    if (t.body[i] == t.body[i - 1]) return false;
    if (t.class_of[i] == WordClass::separator || (is_hard(t) && t.class_of[i] == WordClass::connective)) continue;
    int earlier = 0;
    for (int j = 0; j < i; ++j) earlier += t.body[j] == t.body[i];
    if (earlier >= most_uses) return false;
  }
  return true;
}

bool holds_padding(const Text& t) { return 2 * (count(t, WordClass::filler) + count(t, WordClass::plain)) <= t.length(); }

bool holds(Requirement r, const Text& t) {
  switch (r) {
    case Requirement::safety: return holds_safety(t);
    case Requirement::factuality: return holds_factuality(t);
    case Requirement::keywords: return is_paper(t) || holds_keywords(t);
    case Requirement::order: return is_paper(t) || holds_order(t);
    case Requirement::length: return is_paper(t) || holds_length(t);
    case Requirement::end: return holds_end(t);
    case Requirement::integrity: return holds_integrity(t);
    case Requirement::repetition: return holds_repetition(t);
    case Requirement::padding: return holds_padding(t);
  }
  return false;
}

std::uint16_t find_violations(const Text& t) {
  unsigned mask = 0;
  for (const auto& r : requirement_words)
    if (!holds(r.value, t)) mask |= static_cast<unsigned>(r.value);
  return static_cast<std::uint16_t>(mask);
}

// Counts the facts of the context that are named. In the hard world a fact counts only if all earlier facts of the context count, and the
// response first names them before it.
int helpfulness_points(const Text& t) {
  int named = 0, last = -1;
  for (const Token fact : t.prompt->facts) {
    const int place = first_place(t, fact);
    const bool is_named = place < t.length();
    if (is_hard(t) && (!is_named || place < last)) break;
    named += is_named;
    last = place;
  }
  return 16 * between(named, 0, is_paper(t) ? 2 : toy_facts);
}

// A connective between two different claims links them; any other connective is hanging. In the hard world a link by another persona's
// connective earns half the points.
int logic_points(const Text& t) {
  if (is_paper(t)) return 0;
  int links = 0, foreign = 0, hanging = 0;
  for (int i = 0; i < t.length(); ++i) {
    if (t.class_of[i] != WordClass::connective) continue;
    const bool inside = i > 0 && i + 1 < t.length();
    const bool link = inside && is_claim(t.class_of[i - 1]) && is_claim(t.class_of[i + 1]) && t.body[i - 1] != t.body[i + 1];
    if (!link) ++hanging;
    else if (is_hard(t) && t.vocabulary().index_of(t.body[i]) != t.prompt->persona) ++foreign;
    else ++links;
  }
  const int whole = between(links, 0, most_links), half = between(foreign, 0, most_links - whole);
  return between(16 * whole + 8 * half - 8 * hanging, 0, 32);
}

int conciseness_points(const Text& t) {
  if (is_paper(t)) return 0;
  const int beyond = between(t.length() - (t.range().least + slack_words), 0, most_response_tokens);
  return between(16 - 4 * count(t, WordClass::filler) - 2 * beyond, 0, 16);
}

// Separators end sentences. Words after the last separator are a sentence too. An empty body is one sentence of a bad length.
int clarity_points(const Text& t) {
  int bad = 0, words = 0;
  const auto close = [&] {
    bad += words < 2 || words > most_sentence;
    words = 0;
  };
  for (int i = 0; i < t.length(); ++i) {
    if (t.class_of[i] == WordClass::separator) close();
    else ++words;
  }
  if (words > 0 || t.length() == 0) close();
  return between(16 - 8 * bad, 0, 16);
}

int tone_points(const Text& t) {
  int own = 0, foreign = 0;
  for (int i = 0; i < t.length(); ++i) {
    if (t.class_of[i] != WordClass::tone) continue;
    if (t.vocabulary().index_of(t.body[i]) / tone_words_each == t.prompt->persona) ++own;
    else ++foreign;
  }
  if (t.prompt->asks(Instruction::lowercase)) return own + foreign == 0 ? 16 : 0;
  return between((own > 0 ? 16 : 0) - 8 * foreign, 0, 16);
}

int instruction_points(const Text& t) {
  int followed = 0;
  for (int i = 0; i < t.prompt->instructions; ++i) followed += follows(t.prompt->instruction[i], t);
  return is_paper(t) ? 64 * followed / t.prompt->instructions : 0;
}

Verdict judge_text(const Text& t) {
  Verdict v;
  v.violations = find_violations(t);
  const int points[toy_rubrics] = {helpfulness_points(t), logic_points(t), conciseness_points(t), clarity_points(t), tone_points(t), instruction_points(t)};
  for (int r = 0; r < toy_rubrics; ++r) {
    v.points[r] = static_cast<std::uint8_t>(points[r]);
    v.graded16 += points[r];
  }
  return v;
}

Verdict judge(const ToyLm& world, const ToyPrompt& prompt, std::span<const Token> response) {
  return judge_text(read_text(world, prompt, response));
}

}  // namespace odrpo
