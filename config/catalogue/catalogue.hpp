// Looks up the catalogues for suites: the words of each kind, the config of a word, the word of a config. Finds also the kind of rewards.
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

/// A word of a catalogue as suites write it, and its config.
template <class C>
struct Entry {
  std::string word;
  C config;
};

/// The catalogue of configs C: words() = all its words in the order of command `list`, find() = the config of a word, or nothing.
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

/// Returns the catalogue word of a config, which a suite can give as `base`; "" if it has none.
inline std::string base_of(const EnvConfig& c) { return std::string(word_of(std::span<const Word<WorldKind>>(world_words), c.kind)); }
inline std::string base_of(const PolicyConfig& c) { return std::string(word_of(std::span<const Word<PolicyKind>>(policy_words), c.kind)); }
inline std::string base_of(const EstimatorConfig& c) { return estimator_word(c); }
template <class C>
std::string base_of(const C&) {
  return "";
}

// The catalogue of noise models. (defined in config/read/field_reader_noise.cpp)

/// Returns the words of all noise models, in catalogue order.
std::span<const std::string_view> noise_words();
/// Returns the catalogue word of a noise model.
std::string_view noise_word(const Noise& noise);
/// Returns a noise model's description in one line.
std::string_view noise_help(const Noise& noise);
/// Returns the noise model that a word names, with default values; nothing for an unknown word.
std::optional<Noise> make_noise(std::string_view word);

// The kind of rewards in a run: integer scores or real values, with or without missing ones.

struct RunSpec;

/// How the rewards of a run are stored, which its rater decides.
struct RewardKind {
  bool real = false;  ///< real-valued rewards, else integer scores
  bool gaps = false;  ///< responses may get no reward
  int lowest = 1;     ///< lowest possible score
  int levels = 10;    ///< number of levels, K
  int votes = 1;      ///< scores kept for each response: 1, or all its votes
  int members = 1;    ///< group members that a response makes: 1, or all its votes with aggregate = "fraction"
};
RewardKind reward_kind(const RunSpec& spec);
/// Returns the size of an estimator's group: the number of scores of all responses to one prompt.
int group_size(const RunSpec& spec);

}  // namespace odrpo
