// The catalogues as suites see them: for each kind of thing its words, what a word stands for, and the word of a config; kinds of rewards.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/env_config.hpp"
#include "envs/rater/noise.hpp"
#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "kernels/shared/words.hpp"
#include "policies/policy.hpp"

namespace odrpo {

/// A word of a catalogue: how it is written, and its config.
template <class C>
struct Entry {
  std::string word;
  C config;
};

/// CatalogueOf<C>: words() = every word in listing order, find() = what a word stands for.
template <class C>
struct CatalogueOf;

template <>
struct CatalogueOf<EnvConfig> {
  static std::vector<std::string_view> words();
  static std::optional<Entry<EnvConfig>> find(std::string_view word);
};
template <>
struct CatalogueOf<RaterConfig> {
  static std::vector<std::string_view> words();
  static std::optional<Entry<RaterConfig>> find(std::string_view word);
};
template <>
struct CatalogueOf<PolicyConfig> {
  static std::vector<std::string_view> words();
  static std::optional<Entry<PolicyConfig>> find(std::string_view word);
};
template <>
struct CatalogueOf<EstimatorConfig> {
  static std::vector<std::string_view> words();
  static std::optional<Entry<EstimatorConfig>> find(std::string_view word);
};

/// The word of its catalogue that a config stands for, as `base` names it; "" for one that has none.
inline std::string base_of(const EnvConfig& c) { return std::string(word_of(std::span<const Word<WorldKind>>(world_words), c.kind)); }
inline std::string base_of(const PolicyConfig& c) { return std::string(word_of(std::span<const Word<PolicyKind>>(policy_words), c.kind)); }
inline std::string base_of(const EstimatorConfig& c) { return estimator_word(c); }
template <class C>
std::string base_of(const C&) {
  return "";
}

// The words of the noise models, and the model of a word. (field_reader_noise.cpp)

/// Words of all noise models, in catalogue order.
std::span<const std::string_view> noise_words();
/// The word of a model.
std::string_view noise_word(const Noise& noise);
/// Its line of help.
std::string_view noise_help(const Noise& noise);
/// The model of a word with its defaults, or nothing.
std::optional<Noise> make_noise(std::string_view word);

// Which kind of rewards a run's rater gives: integer scores or real values, with or without missing ones.

struct RunSpec;

/// What of a rater decides how rewards are kept.
struct RewardKind {
  bool real = false;  ///< real-valued rewards, else integer scores
  bool gaps = false;  ///< responses may end without one
  int lowest = 1;     ///< lowest score
  int levels = 10;    ///< K
  int votes = 1;      ///< scores that are kept of a response: 1, or all its votes
  int members = 1;    ///< members of its prompt's group that a response makes: 1, or with aggregate = "fraction" all its votes
};
RewardKind reward_kind(const RunSpec& spec);
/// Scores that are estimated as one group: of all responses to a prompt.
int group_size(const RunSpec& spec);

}  // namespace odrpo
