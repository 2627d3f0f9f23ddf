// A transformer's steps on a device: what is sent, which order of work is queued (transformer_queue_*.hpp), what is fetched.
#include <algorithm>
#include <limits>

#include "kernels/device/tile_launch.cuh"
#include "policies/transformer/device/backward.hpp"
#include "policies/transformer/device/device_transformer.hpp"

namespace odrpo {
namespace {

template <class T>
void send(T* to, std::span<const T> from, const Stream& stream, Asked asked) {
  device_memory::copy(to, from.data(), from.size_bytes(), device_memory::Way::to_device, stream, asked);
}
template <class T>
void take(std::vector<T>& to, const T* from, std::size_t n, const Stream& stream, Asked asked) {
  to.resize(n);
  device_memory::copy(to.data(), from, n * sizeof(T), device_memory::Way::from_device, stream, asked);
}

std::size_t bytes_of(auto lay) {
  MemoryPieces count;
  lay(count);
  return count.bytes;
}

[[noreturn]] void wrong(const char* what, std::int64_t given, const std::string& needed, Asked from) {
  throw Failure(Exit::internal, std::string("a device's transformer was given ") + std::to_string(given) + " " + what + " and needs " +
                                    needed + " at " + line_of(from));
}
void need(const char* what, std::size_t given, std::size_t needed, Asked from) {
  if (given != needed) wrong(what, static_cast<std::int64_t>(given), std::to_string(needed), from);
}
void need_at_least(const char* what, std::size_t given, std::size_t least, Asked from) {
  if (given < least) wrong(what, static_cast<std::int64_t>(given), "at least " + std::to_string(least), from);
}

// Floats that are trained. Asked before any device, whether the start fits.
std::size_t count_trained(const WeightTable& table, const AdapterTable& adapter_table, std::size_t weights, std::size_t adapters,
                          Asked from) {
  need("weights", weights, table.count, from);
  need("adapters' weights", adapters, adapter_table.count, from);
  return adapter_table.rank > 0 ? adapter_table.count : table.count;
}

// Refuses what row numbers cannot count.
int room_for(const TransformerShape& s, int prompts, int per_prompt) {
  const double rows = static_cast<double>(prompts) * (s.prompt + static_cast<double>(per_prompt) * s.response);
  if (rows * std::max({4 * s.width, s.vocabulary, s.response}) > std::numeric_limits<int>::max())
    throw Failure(Exit::limits, "a batch of " + std::to_string(prompts) + " prompts x " + std::to_string(per_prompt) +
                                    " responses is more than a device's transformer counts");
  return prompts;
}

// Queues and kernels write through what a const object's buffers point to.
float* writable(const DeviceBuffer<float>& b) { return const_cast<float*>(b.data()); }

}  // namespace

DeviceTransformer::Net DeviceTransformer::make_net(Asked from) const {
  const auto lay = [&](MemoryPieces& m) { return device_pass(shape_, prompts_, per_prompt_, m); };
  DeviceBuffer<std::byte> memory(bytes_of(lay), from);
  MemoryPieces real{memory.data()};
  DevicePass pass = lay(real);
  return {std::move(memory), std::move(pass)};
}

DeviceTransformer::DeviceTransformer(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                                     const OptimizerConfig& optimizer, int steps, std::span<const float> weights,
                                     std::span<const float> adapters, ProductPrecision precision, Asked from)
    : shape_(shape),
      prompts_(room_for(shape, prompts, per_prompt)),
      per_prompt_(per_prompt),
      temperature_(config.temperature),
      top_p_(static_cast<float>(config.top_p)),
      table_(weight_table(shape)),
      adapter_table_(adapter_table(shape, table_, config)),
      trained_count_(count_trained(table_, adapter_table_, weights.size(), adapters.size(), from)),
      scalars_(optimizer, steps, 1),
      stream_(from),
      products_(precision, from),
      theta_(table_.count, from),
      initial_(table_.count, from),
      gradient_(table_.count, from),
      m_(trained_count_, from),
      v_(trained_count_, from),
      adapter_(adapter_table_.count, from),
      adapter_gradient_(adapter_table_.count, from),
      net_(make_net(from)),
      back_memory_(bytes_of([&](MemoryPieces& m) { return device_backward(net_.pass, trained_count_, m); }), from) {
  MemoryPieces real{back_memory_.data()};
  back_ = device_backward(net_.pass, trained_count_, real);
  theta_.send(weights, stream_, from);
  initial_.send(weights, stream_, from);
  adapter_.send(adapters, stream_, from);
  m_.fill(0, stream_, from);
  v_.fill(0, stream_, from);
  merge(from);
  stream_.wait(from);
}

DeviceWeights DeviceTransformer::device_weights(const DeviceBuffer<float>& theta) const {
  return {&table_, writable(theta), writable(gradient_)};
}
DeviceTrained DeviceTransformer::trained() const {
  const bool lora = adapter_table_.rank > 0;
  return {trained_count_, writable(lora ? adapter_ : theta_), writable(lora ? adapter_gradient_ : gradient_), writable(m_), writable(v_)};
}
void DeviceTransformer::merge(Asked from) {
  DeviceBackend q{stream_, products_, from};
  device::merge_adapters(q, adapter_table_, initial_.data(), adapter_.data(), theta_.data());
}

void DeviceTransformer::give(const Net& net, Asked from) {
  const std::size_t sequences = sequences_of(net.pass.rows), tokens = sequences * shape_.response;
  need("prompts' tokens", prompt_.size(), prompt_rows_of(net.pass.rows), from);
  need_at_least("responses' tokens", rollouts_.token.size(), tokens, from);
  need_at_least("responses' lengths", rollouts_.length.size(), sequences, from);
  send(net.pass.prompt, std::span<const std::uint16_t>(prompt_), stream_, from);
  send(net.pass.token, std::span<const std::uint16_t>(rollouts_.token).first(tokens), stream_, from);
  send(net.pass.length, std::span<const int>(rollouts_.length).first(sequences), stream_, from);
}

void DeviceTransformer::take_chances(const Net& net, std::vector<float>& log_chance, Asked from) {
  take(log_chance, net.pass.log_chance, static_cast<std::size_t>(sequences_of(net.pass.rows)) * shape_.response, stream_, from);
  take(entropy_, net.pass.entropy, sites_of(net.pass.rows), stream_, from);
  stream_.wait(from);
}

void DeviceTransformer::sample(const std::uint16_t* prompt, const std::uint32_t* word, Asked from) {
  DevicePass& p = net_.pass;
  p.rows.prompts = prompts_;
  p.inverse_temperature = static_cast<float>(1.0 / temperature_);
  const std::size_t sequences = sequences_of(p.rows), tokens = sequences * shape_.response;
  prompt_.assign(prompt, prompt + prompt_rows_of(p.rows));
  send(p.prompt, std::span<const std::uint16_t>(prompt_), stream_, from);
  send(p.word, std::span(word, tokens), stream_, from);
  DeviceBackend q{stream_, products_, from};
  device::sample(q, p, device_weights(theta_), top_p_);
  take(rollouts_.token, p.token, tokens, stream_, from);
  take(rollouts_.length, p.length, sequences, stream_, from);
  take_chances(net_, log_chance_, from);
  old_log_ = log_chance_;
  has_reference_ = false;
}

void DeviceTransformer::read_at(double temperature, const std::uint16_t* prompt, int prompts, const Rollouts& given, Asked from) {
  if (prompts < 1 || prompts > prompts_) wrong("prompts", prompts, "1 to " + std::to_string(prompts_), from);
  DevicePass& p = net_.pass;
  p.rows.prompts = prompts;
  p.inverse_temperature = static_cast<float>(1.0 / temperature);
  prompt_.assign(prompt, prompt + prompt_rows_of(p.rows));
  if (&given != &rollouts_) rollouts_ = given;
  give(net_, from);
  DeviceBackend q{stream_, products_, from};
  device::read(q, p, device_weights(theta_));
  take_chances(net_, log_chance_, from);
}

void DeviceTransformer::read(const std::uint16_t* prompt, int prompts, const Rollouts& given, bool fresh, Asked from) {
  read_at(temperature_, prompt, prompts, given, from);
  if (fresh) {
    old_log_ = log_chance_;
    has_reference_ = false;
  }
}

void DeviceTransformer::refer(Asked from) {
  if (!reference_) reference_ = make_net(from);
  DevicePass& p = reference_->pass;
  p.rows.prompts = net_.pass.rows.prompts;
  p.inverse_temperature = net_.pass.inverse_temperature;
  give(*reference_, from);
  DeviceBackend q{stream_, products_, from};
  device::read(q, p, device_weights(initial_));
  take(reference_log_, p.log_chance, static_cast<std::size_t>(sequences_of(p.rows)) * shape_.response, stream_, from);
  stream_.wait(from);
  has_reference_ = true;
}

void DeviceTransformer::backward(const TokenCoefficients& by, Asked from) {
  const std::size_t tokens = static_cast<std::size_t>(sequences_of(net_.pass.rows)) * shape_.response, sites = sites_of(net_.pass.rows);
  need("tokens' coefficients", by.token.size(), tokens, from);
  need("sites' sums", by.site_sum.size(), sites, from);
  need("sites' entropy weights", by.site_bonus.size(), sites, from);
  send(back_.coefficient, std::span(by.token), stream_, from);
  send(back_.site_sum, std::span(by.site_sum), stream_, from);
  send(back_.site_bonus, std::span(by.site_bonus), stream_, from);
  DeviceBackend q{stream_, products_, from};
  device::backward(q, net_.pass, back_, device_weights(theta_));
  device::adapter_gradient(q, adapter_table_, adapter_.data(), gradient_.data(), adapter_gradient_.data());
}

void DeviceTransformer::update(int t, Asked from) {
  for (; begun_ <= t; ++begun_) scalars_.begin_step(begun_);
  DeviceBackend q{stream_, products_, from};
  device::update(q, back_, trained(), scalars_, t);
  merge(from);
}

TransformerReport DeviceTransformer::update_from(int t, const LearnFrom& by, const TransformerLoss& loss, Asked from) {
  need("log-probabilities", log_chance_.size(), static_cast<std::size_t>(sequences_of(net_.pass.rows)) * shape_.response, from);
  TransformerReport report = token_coefficients(net_.pass.rows, log_chance_.data(), entropy_.data(), rollouts_, loss, by, coefficients_);
  backward(coefficients_, from);
  update(t, from);
  report.gradient_norm = fetch(back_.norm, 1, from)[0];
  return report;
}

TransformerReport DeviceTransformer::learn(int t, const float* coefficient, const std::uint8_t* mask, const TransformerLoss& loss,
                                           Asked from) {
  need_at_least("old log-probabilities", old_log_.size(), log_chance_.size(), from);
  if (has_reference_) need_at_least("reference's log-probabilities", reference_log_.size(), log_chance_.size(), from);
  return update_from(t, {coefficient, mask, old_log_.data(), has_reference_ ? reference_log_.data() : nullptr}, loss, from);
}

TransformerReport DeviceTransformer::imitate(int t, const std::uint16_t* prompt, int prompts, const Rollouts& demonstrations, Asked from) {
  read_at(1.0, prompt, prompts, demonstrations, from);
  has_reference_ = false;
  const std::vector<float> one(sequences_of(net_.pass.rows), 1.0f);
  return update_from(t, {one.data(), nullptr, nullptr, nullptr}, {}, from);
}

DeviceTransformerState DeviceTransformer::state(Asked from) const {
  const DeviceTrained of = trained();
  return {fetch(of.theta, of.count, from), fetch(of.m, of.count, from), fetch(of.v, of.count, from),
          fetch(initial_.data(), table_.count, from)};
}

void DeviceTransformer::restore(const DeviceTransformerState& state, int updates_done, Asked from) {
  need("first weights", state.initial.size(), table_.count, from);
  need("trained weights", state.trained.size(), trained_count_, from);
  need("first moments", state.m.size(), trained_count_, from);
  need("second moments", state.v.size(), trained_count_, from);
  initial_.send(state.initial, stream_, from);
  theta_.send(state.initial, stream_, from);
  (adapter_table_.rank > 0 ? adapter_ : theta_).send(state.trained, stream_, from);
  m_.send(state.m, stream_, from);
  v_.send(state.v, stream_, from);
  merge(from);
  stream_.wait(from);
  begun_ = scalars_.begin_again(updates_done);
}

std::vector<float> DeviceTransformer::fetch(const float* from, std::size_t n, Asked asked) const {
  std::vector<float> to;
  take(to, from, n, stream_, asked);
  stream_.wait(asked);
  return to;
}
std::vector<float> DeviceTransformer::weights(Asked from) const { return fetch(theta_.data(), table_.count, from); }
std::vector<float> DeviceTransformer::gradient(Asked from) const { return fetch(trained().gradient, trained_count_, from); }

}  // namespace odrpo
