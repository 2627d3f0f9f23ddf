// Numbers the rows of a device's pass independently of when responses end, so that no kernel launch waits for a count.
#pragma once
#include "kernels/portable.hpp"

namespace odrpo {

/// Sizes of a batch, which fix the row of every input token. The rows of the prompts' P tokens come first ([b][p]). Token t of sequence
/// (response) s has row prompts P + t S + s, S = number of sequences. t = 0 .. response - 2, since a response's last token is no input. A
/// site is a row whose output chooses tokens: the last row of each prompt, and every response row. A row behind its response's end is
/// computed like any other, from token 0; its coefficients are 0, so that it adds exact zeros.
struct FixedRows {
  int prompts, per_prompt;  ///< prompts; responses to each
  int prompt, response;     ///< tokens of a prompt, and of the longest response
};
ODRPO_HD int sequences_of(const FixedRows& r) { return r.prompts * r.per_prompt; }
ODRPO_HD int prompt_rows_of(const FixedRows& r) { return r.prompts * r.prompt; }
/// Returns the row of token t of sequence 0. Token t of the other sequences is in the rows after it.
ODRPO_HD int first_of(const FixedRows& r, int t) { return prompt_rows_of(r) + t * sequences_of(r); }
ODRPO_HD int rows_of(const FixedRows& r) { return first_of(r, r.response - 1); }
ODRPO_HD int sites_of(const FixedRows& r) { return r.prompts + rows_of(r) - prompt_rows_of(r); }
/// site_of() returns the site whose output chooses token t of sequence s; row_of_site() returns the row of a site.
ODRPO_HD int site_of(const FixedRows& r, int s, int t) { return t == 0 ? s / r.per_prompt : r.prompts + (t - 1) * sequences_of(r) + s; }
ODRPO_HD int row_of_site(const FixedRows& r, int site) {
  return site < r.prompts ? (site + 1) * r.prompt - 1 : prompt_rows_of(r) + site - r.prompts;
}

/// The place of a row's token. For a row of a prompt, s is the prompt's first sequence.
struct RowPlace {
  int b, s, at;  ///< prompt, sequence, position from the prompt's first token on
};
ODRPO_HD RowPlace place_of(const FixedRows& r, int row) {
  if (row < prompt_rows_of(r)) return {row / r.prompt, row / r.prompt * r.per_prompt, row % r.prompt};
  const int i = row - prompt_rows_of(r), s = i % sequences_of(r);
  return {s / r.per_prompt, s, r.prompt + i / sequences_of(r)};
}
/// Returns the row at position `at` of the prompt and sequence that `place` names.
ODRPO_HD int row_at(const FixedRows& r, const RowPlace& place, int at) {
  return at < r.prompt ? place.b * r.prompt + at : first_of(r, at - r.prompt) + place.s;
}

/// The rows that attend to one row's attention key: the row itself and the later rows of its prompt or response. For a prompt's row also all
/// rows of its responses.
struct Lookers {
  int first, step, own, count;  ///< `own` rows first, first + step, …; `count` includes the rows of the responses
  int rest;                     ///< the first row of the responses
};
ODRPO_HD Lookers lookers_of(const FixedRows& r, int row) {
  const RowPlace p = place_of(r, row);
  if (p.at >= r.prompt) {
    const int n = r.prompt + r.response - 1 - p.at;
    return {row, sequences_of(r), n, n, row};
  }
  return {row, 1, r.prompt - p.at, r.prompt - p.at + r.per_prompt * (r.response - 1), prompt_rows_of(r) + p.s};
}
ODRPO_HD int looker(const FixedRows& r, const Lookers& l, int i) {
  if (i < l.own) return l.first + i * l.step;
  const int rest = i - l.own;
  return l.rest + rest / r.per_prompt * sequences_of(r) + rest % r.per_prompt;
}

}  // namespace odrpo
