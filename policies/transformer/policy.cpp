// Implements sampling, updates and checkpoints of a transformer in training.
#include "policies/transformer/policy.hpp"

#include <algorithm>
#include <vector>

#include "kernels/math.hpp"
#include "policies/row_math.hpp"

namespace odrpo {

TransformerPolicy::TransformerPolicy(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                                     const OptimizerConfig& optimizer, int steps, const TransformerStart& start, Isa isa, Team& team)
    : config_(config),
      shape_(shape),
      weights_(make_weights(shape)),
      initial_(make_weights(shape)),
      scalars_(optimizer, steps, 1),
      optimizer_(optimizer),
      pass_(shape, prompts, per_prompt, isa, true, team),
      reference_pass_(shape, prompts, per_prompt, isa, false, team),
      backward_(pass_),
      prompts_(prompts) {
  adapter_table_ = adapter_table(shape, initial_.table, config);
  std::copy(start.weights.begin(), start.weights.end(), initial_.flat.data());
  adapter_ = Floats(adapter_table_.count);
  std::copy(start.adapters.begin(), start.adapters.end(), adapter_.data());
  std::copy(initial_.flat.data(), initial_.flat.data() + initial_.table.count, weights_.flat.data());
  trained_ = config.lora_rank > 0 ? adapter_table_.count : initial_.table.count;
  m_ = Floats(trained_);
  v_ = Floats(trained_);
  gradient_ = Floats(initial_.table.count);
  adapter_gradient_ = Floats(adapter_table_.count);
  renew_head(shape_, initial_);
  renew();
}

void TransformerPolicy::renew() {
  if (adapter_table_.rank > 0)
    merge_adapters(adapter_table_, pass_.product, initial_.flat.data(), initial_.table.count, adapter_.data(), weights_.flat.data(),
                   scratch_);
  renew_head(shape_, weights_);
}

void TransformerPolicy::sample(const std::uint16_t* prompt, const std::uint32_t* word) {
  prompt_.assign(prompt, prompt + static_cast<std::size_t>(prompts_) * shape_.prompt);
  pass_.sample(weights_, prompts_, prompt, word, config_.temperature, config_.top_p, rollouts_);
  old_log_ = pass_.log_probability();
  has_reference_ = false;
}

void TransformerPolicy::read(const std::uint16_t* prompt, int prompts, const TokenRollouts& given, bool fresh) {
  if (prompt != prompt_.data()) prompt_.assign(prompt, prompt + static_cast<std::size_t>(prompts) * shape_.prompt);
  if (&given != &rollouts_) rollouts_ = given;
  pass_.read(weights_, prompts, prompt_.data(), rollouts_, config_.temperature);
  if (fresh) {
    old_log_ = pass_.log_probability();
    has_reference_ = false;
  }
}

void TransformerPolicy::refer() {
  reference_pass_.read(initial_, pass_.rows().prompts, prompt_.data(), rollouts_, pass_.temperature());
  has_reference_ = true;
}

TransformerReport TransformerPolicy::learn(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss) {
  return update(t, {coefficient, mask, old_log_.data(), has_reference_ ? reference_pass_.log_probability().data() : nullptr}, loss);
}

TransformerReport TransformerPolicy::imitate(int t, const std::uint16_t* prompt, int prompts, const TokenRollouts& demonstrations) {
  rollouts_ = demonstrations;
  pass_.read(weights_, prompts, prompt, rollouts_, 1.0);
  has_reference_ = false;
  const std::vector<float> one(rollouts_.length.size(), 1.0f);
  return update(t, {one.data(), nullptr, nullptr, nullptr}, {});
}

TransformerReport TransformerPolicy::update(int t, const LearnFrom& from, const TransformerLoss& loss) {
  TransformerReport report = token_coefficients(pass_, rollouts_, loss, from, coefficients_);
  backward_.run(pass_, weights_, rollouts_, coefficients_, gradient_.data());
  if (adapter_table_.rank > 0)
    adapter_gradient(adapter_table_, pass_.product, adapter_.data(), gradient_.data(), adapter_gradient_.data(), scratch_);
  const float* ascent = gradient().data();
  report.gradient_norm = math::sqrt(pass_.stages.square_sum(trained_, ascent));
  for (; begun_ <= t; ++begun_) scalars_.begin_step(begun_);
  const PendingStep now = scalars_.pending(t)[0];
  const float factor = row_math::clip_factor(report.gradient_norm, optimizer_.clip);
  float* theta = adapter_table_.rank > 0 ? adapter_.data() : weights_.flat.data();
  if (optimizer_.kind == OptimizerKind::sgd) {
    const float rate = scalars_.rate() * factor;
    for (std::size_t i = 0; i < trained_; ++i) theta[i] += rate * ascent[i];
  } else {
    const AdamStep step{factor, static_cast<float>(optimizer_.beta1), static_cast<float>(optimizer_.beta2), scalars_.eps(), now};
    pass_.team.share(static_cast<int>(trained_), 8, [&](int begin, int end) {
      pass_.stages.adam(static_cast<std::size_t>(end - begin), step, ascent + begin, theta + begin, m_.data() + begin, v_.data() + begin);
    });
  }
  renew();
  return report;
}

TransformerState TransformerPolicy::state() {
  float* theta = adapter_table_.rank > 0 ? adapter_.data() : weights_.flat.data();
  return {{theta, trained_}, {m_.data(), trained_}, {v_.data(), trained_}, {initial_.flat.data(), initial_.table.count}};
}

void TransformerPolicy::restored(int updates_done) {
  renew_head(shape_, initial_);
  renew();
  begun_ = scalars_.begin_again(updates_done);
}

}  // namespace odrpo
