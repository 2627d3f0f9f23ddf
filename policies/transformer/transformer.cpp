// Shapes of the two sizes, and refusals.
#include "policies/transformer/transformer.hpp"

namespace odrpo {

TransformerShape transformer_shape(const TransformerConfig& config, int vocabulary, int prompt, int response, int end) {
  TransformerShape s;
  s.vocabulary = vocabulary;
  s.prompt = prompt;
  s.response = response;
  s.width = config.size == TransformerSize::large ? 128 : 64;
  s.layers = 2;
  s.heads = 4;
  s.tied = config.head == HeadKind::tied;
  s.end = end;
  return s;
}

std::string refuse_transformer(const TransformerConfig& config, const TransformerShape& s) {
  const auto number = [](auto x) { return std::to_string(x); };
  if (s.vocabulary < 2 || s.vocabulary > 1024) return "vocabulary must be 2..1024, not " + number(s.vocabulary);
  if (s.prompt < 1) return "a prompt needs at least one token, not " + number(s.prompt);
  if (s.response < 1) return "a response needs at least one token, not " + number(s.response);
  if (s.context() > 512) return "prompt and response together may take 512 tokens, not " + number(s.context());
  if (s.end < 0 || s.end >= s.vocabulary) return "the end token " + number(s.end) + " is not in the vocabulary of " + number(s.vocabulary);
  if (s.layers < 1 || s.heads < 1 || s.width % s.heads != 0) return "the width must be a multiple of the heads";
  if (const int h = s.head_width(); h != 8 && h != 16 && h != 32) return "heads must be 8, 16 or 32 wide, not " + number(h);
  if (config.lora_rank < 0) return "lora_rank must not be negative";
  if (config.lora_rank > s.width)
    return "lora_rank " + number(config.lora_rank) + " is above the width " + number(s.width) +
           ": train all weights instead (lora_rank = 0)";
  if (!(config.temperature > 0)) return "temperature must be above 0: training needs the chances of what was sampled";
  if (!(config.eval_temperature == 0 || config.eval_temperature >= 1e-3)) return "eval_temperature must be 0 or at least 0.001";
  if (!(config.top_p > 0 && config.top_p <= 1)) return "top_p must be in (0, 1]";
  return {};
}

}  // namespace odrpo
