// Where the rows of a pass stand on a device: places that do not depend on when responses end, so that nobody has to count before a launch.
#pragma once
#include "kernels/portable.hpp"

namespace odrpo {

/// Prompts' tokens first ([b][p]), then the responses' by time: token t of sequence s in row prompts P + t S + s, t = 0 .. response - 2 (a
/// last token is no input). Sites, the rows that choose tokens: a prompt's last, then every response row.
/// A row whose response has ended before it is computed like any other, from token 0; its coefficients are 0, so that it adds exact zeros.
struct FixedRows {
  int prompts, per_prompt;  ///< B, G
  int prompt, response;     ///< P, and the longest response
};
ODRPO_HD int sequences_of(const FixedRows& r) { return r.prompts * r.per_prompt; }
ODRPO_HD int prompt_rows_of(const FixedRows& r) { return r.prompts * r.prompt; }
/// Rows of all prompts and of slices 0 .. t - 1.
ODRPO_HD int first_of(const FixedRows& r, int t) { return prompt_rows_of(r) + t * sequences_of(r); }
ODRPO_HD int rows_of(const FixedRows& r) { return first_of(r, r.response - 1); }
ODRPO_HD int sites_of(const FixedRows& r) { return r.prompts + rows_of(r) - prompt_rows_of(r); }
/// The site that chose token t of sequence s, and the row that a site reads.
ODRPO_HD int site_of(const FixedRows& r, int s, int t) { return t == 0 ? s / r.per_prompt : r.prompts + (t - 1) * sequences_of(r) + s; }
ODRPO_HD int row_of_site(const FixedRows& r, int site) {
  return site < r.prompts ? (site + 1) * r.prompt - 1 : prompt_rows_of(r) + site - r.prompts;
}

/// A row's place in its sequence; of a prompt's row s is the prompt's first sequence.
struct RowPlace {
  int b, s, at;  ///< prompt, sequence, position from the prompt's first token on
};
ODRPO_HD RowPlace place_of(const FixedRows& r, int row) {
  if (row < prompt_rows_of(r)) return {row / r.prompt, row / r.prompt * r.per_prompt, row % r.prompt};
  const int i = row - prompt_rows_of(r), s = i % sequences_of(r);
  return {s / r.per_prompt, s, r.prompt + i / sequences_of(r)};
}
/// The row at a position of what `place` belongs to.
ODRPO_HD int row_at(const FixedRows& r, const RowPlace& place, int at) {
  return at < r.prompt ? place.b * r.prompt + at : first_of(r, at - r.prompt) + place.s;
}

/// The rows that see a row's key: later ones of its own, then (of a prompt's row) those of all the prompt's sequences.
struct Lookers {
  int first, step, own, count;  ///< rows first, first + step, … of `own`; `count` with the sequences' rows
  int rest;                     ///< the first of those
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
