// Queues a transformer's steps on a device: sends inputs, orders the work, fetches results.
#pragma once
#include <algorithm>

#include "kernels/shared/failure.hpp"
#include "policies/transformer/device/device_transformer.hpp"
#include "policies/transformer/device/passes.hpp"

namespace odrpo {

template <class Q>
DeviceTransformer<Q>::DeviceTransformer(Q& queue, const TransformerTraining& t)
    : queue_(queue),
      shape_(t.shape),
      optimizer_(t.optimizer),
      top_p_(static_cast<float>(t.config.top_p)),
      adapters_(adapter_table(t.shape, host_.table, t.config)),
      scalars_(t.optimizer, t.updates, 1),
      memory_(queue, device_bytes(t.config, t.shape, t.prompts, t.per_prompt)) {
  MemoryPieces pieces{memory_.data};
  at_ = device_memory_of(t.config, t.shape, t.prompts, t.per_prompt, pieces);
  at_.pass.inverse_temperature = at_.reference.inverse_temperature = static_cast<float>(1.0 / t.config.temperature);
  state_ = {lora() ? t.start.adapters : t.start.weights, std::vector<float>(at_.trained), std::vector<float>(at_.trained), t.start.weights};
  send(at_.initial, state_.initial);
  restored(0);
}

// waits, since queued work may still read and write the members
template <class Q>
DeviceTransformer<Q>::~DeviceTransformer() {
  try {
    queue_.wait();
  } catch (const Failure&) {
    // reported already, or nobody is left to report to
  }
}

template <class Q>
void DeviceTransformer<Q>::sample(const std::uint16_t* prompt, const std::uint32_t* word) {
  DevicePass& p = at_.pass;
  queue_.send(p.prompt, prompt, prompt_rows_of(p.rows) * sizeof(std::uint16_t));
  queue_.send(at_.reference.prompt, prompt, prompt_rows_of(p.rows) * sizeof(std::uint16_t));
  queue_.send(p.word, word, tokens() * sizeof(std::uint32_t));
  queue_.recorded(sampling, [&] { device::sample(queue_, p, weights_at(at_.theta), top_p_); });
  fetch(rollouts_.token, p.token, tokens());
  fetch(rollouts_.length, p.length, static_cast<std::size_t>(sequences_of(p.rows)));
  take_probabilities();
  old_log_ = log_probability_;
  has_reference_ = false;
}

template <class Q>
void DeviceTransformer<Q>::read_again() {
  queue_.recorded(reading, [&] { device::read(queue_, at_.pass, weights_at(at_.theta)); });
  take_probabilities();
}

template <class Q>
void DeviceTransformer<Q>::refer() {
  send(at_.reference.token, rollouts_.token);
  send(at_.reference.length, rollouts_.length);
  queue_.recorded(referring, [&] { device::read(queue_, at_.reference, weights_at(at_.initial)); });
  fetch(reference_log_, at_.reference.log_probability, tokens());
  queue_.wait();
  has_reference_ = true;
}

template <class Q>
TransformerReport DeviceTransformer<Q>::learn(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss) {
  TransformerReport report =
      token_coefficients(at_.pass.rows, log_probability_.data(), entropy_.data(), rollouts_, loss,
                         {coefficient, mask, old_log_.data(), has_reference_ ? reference_log_.data() : nullptr}, coefficients_);
  for (; begun_ <= t; ++begun_) scalars_.begin_step(begun_);
  scalars_now_ = device::update_scalars(scalars_, t);
  send(at_.back.coefficient, coefficients_.token);
  send(at_.back.site_sum, coefficients_.site_sum);
  send(at_.back.site_bonus, coefficients_.site_bonus);
  queue_.send(at_.back.scalars, &scalars_now_, sizeof scalars_now_);
  queue_.recorded(learning, [&] {
    device::backward(queue_, at_.pass, at_.back, weights_at(at_.theta));
    device::adapter_gradient(queue_, adapters_, at_.adapter, at_.gradient, at_.adapter_gradient);
    device::update(queue_, at_.back, trained_at(), optimizer_);
    device::merge_adapters(queue_, adapters_, at_.initial, at_.adapter, at_.theta);
  });
  queue_.fetch(&norm_, at_.back.norm, sizeof norm_);
  queue_.wait();
  report.gradient_norm = norm_;
  return report;
}

template <class Q>
const NetWeights& DeviceTransformer<Q>::weights() {
  queue_.fetch(host_.flat.data(), at_.theta, at_.weights * sizeof(float));
  queue_.wait();
  renew_head(shape_, host_);
  return host_;
}

template <class Q>
TransformerState DeviceTransformer<Q>::state() {
  const DeviceTrained of = trained_at();
  fetch(state_.trained, of.theta, of.count);
  fetch(state_.m, of.m, of.count);
  fetch(state_.v, of.v, of.count);
  queue_.wait();
  return {state_.trained, state_.m, state_.v, state_.initial};
}

template <class Q>
void DeviceTransformer<Q>::restored(int updates_done) {
  send(at_.theta, state_.initial);
  const DeviceTrained of = trained_at();
  send(of.theta, state_.trained);
  send(of.m, state_.m);
  send(of.v, state_.v);
  device::merge_adapters(queue_, adapters_, at_.initial, at_.adapter, at_.theta);
  queue_.wait();
  begun_ = scalars_.begin_again(updates_done);
}

template <class Q>
std::vector<float> DeviceTransformer<Q>::fetched(const float* from, std::size_t n) {
  std::vector<float> to;
  fetch(to, from, n);
  queue_.wait();
  return to;
}

template <class Q>
template <class T>
void DeviceTransformer<Q>::send(T* to, const std::vector<T>& from) {
  queue_.send(to, from.data(), from.size() * sizeof(T));
}

template <class Q>
template <class T>
void DeviceTransformer<Q>::fetch(std::vector<T>& to, const T* from, std::size_t n) {
  to.resize(n);
  queue_.fetch(to.data(), from, n * sizeof(T));
}

template <class Q>
void DeviceTransformer<Q>::take_probabilities() {
  fetch(log_probability_, at_.pass.log_probability, tokens());
  fetch(entropy_, at_.pass.entropy, static_cast<std::size_t>(sites_of(at_.pass.rows)));
  queue_.wait();
}

}  // namespace odrpo
