// The fast transformer against its definition: forward, sampling, gradient, LoRA; every head width, instruction set and option.
#include <algorithm>
#include <cmath>
#include <random>

#include "policies/transformer/policy.hpp"
#include "tests/catch.hpp"
#include "tests/policies/transformer/cases.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
using namespace transformer_cases;
using definition::Numbers;
using definition::Response;

namespace {

constexpr Isa isas[] = {Isa::portable, Isa::avx2};

}  // namespace

TEST_CASE("sampling with kept keys picks the tokens that recomputing every sequence in double picks", "[transformer][slow]") {
  for (const Case& c : cases)
    for (const Isa isa : isas) {
      if (!has_isa(isa)) continue;
      const NetWeights w = weights(c.shape, 21);
      const Numbers exact = numbers(w.flat);
      TransformerPass pass(c.shape, c.prompts, c.per_prompt, isa, true);
      int ended = 0, compared = 0;
      for (const double temperature : {1.0, 0.6})
        for (const double top_p : rounds<std::vector<double>>({temperature < 1 ? 0.8 : 1.0}, {1.0, 0.8, 0.3})) {
          const Batch b = batch(c, 22);
          TokenRollouts r;
          pass.sample(w, c.prompts, b.prompt.data(), b.word.data(), temperature, top_p, r);
          double worst_logit = 0, worst_probability = 0, worst_entropy = 0, size = 1;
          for (int s = 0; s < c.prompts * c.per_prompt; ++s) {
            INFO(c.name << " " << isa_name(isa) << " temperature " << temperature << " top_p " << top_p << " sequence " << s);
            const Response x = response(c, b, r, s);
            ended += x.tokens.back() == c.shape.end;
            // whole: it ends at the end token or at the longest length, and there is no end token before
            CHECK((x.tokens.back() == c.shape.end || r.length[s] == c.shape.response));
            CHECK(std::count(x.tokens.begin(), x.tokens.end(), c.shape.end) <= 1);
            std::vector<int> tokens = x.prompt;
            for (int t = 0; t < r.length[s]; ++t) {
              const definition::Trace trace = definition::forward(c.shape, exact, tokens);  // nothing kept from the token before
              const double* logits = &trace.logits[(tokens.size() - 1) * c.shape.vocabulary];
              const Numbers l = definition::log_probabilities(c.shape.vocabulary, logits, temperature);
              const int site = pass.site(s, t);
              CHECK(definition::pick(l, top_p, b.word[s * c.shape.response + t]) == x.tokens[t]);
              double entropy = 0;
              for (int a = 0; a < c.shape.vocabulary; ++a) {
                worst_logit = std::fmax(worst_logit, std::fabs(pass.logits[site * c.shape.vocabulary + a] - logits[a]));
                size = std::fmax(size, std::fabs(logits[a]));
                entropy -= std::exp(l[a]) * l[a];
              }
              worst_probability = std::fmax(worst_probability, std::fabs(pass.log_probability()[s * c.shape.response + t] - l[x.tokens[t]]));
              worst_entropy = std::fmax(worst_entropy, std::fabs(pass.entropy[site] - entropy));
              tokens.push_back(x.tokens[t]);
              ++compared;
            }
          }
          INFO(c.name << " " << isa_name(isa) << " temperature " << temperature);
          // float products of up to 512 terms through 3 layers: some ten roundings of 6e-8 relative to the largest logit, over temperature
          CHECK(worst_logit < 3e-6 * size);
          CHECK(worst_probability < 6e-6 * size / temperature);
          CHECK(worst_entropy < 6e-6 * size / temperature);
        }
      INFO(c.name);
      CHECK(compared > (c.shape.response == 1 ? 20 : 60) / rounds(3, 1));
      if (c.shape.vocabulary < 10 && c.shape.response > 1) CHECK(ended > 0);
    }
}

TEST_CASE("writing the likeliest token every time picks the largest logit of recomputing in double", "[transformer]") {
  for (const Case& c : cases)
    for (const Isa isa : isas) {
      if (!has_isa(isa)) continue;
      const NetWeights w = weights(c.shape, 26);
      const Numbers exact = numbers(w.flat);
      TransformerPass pass(c.shape, c.prompts, c.per_prompt, isa, false);
      const Batch b = batch(c, 27);
      TokenRollouts r;
      pass.write_likeliest(w, c.prompts, b.prompt.data(), r);
      int likeliest = 0, written = 0;
      for (int s = 0; s < c.prompts * c.per_prompt; ++s) {
        INFO(c.name << " " << isa_name(isa) << " sequence " << s);
        const Response x = response(c, b, r, s);
        CHECK((x.tokens.back() == c.shape.end || r.length[s] == c.shape.response));
        std::vector<int> tokens = x.prompt;
        for (int t = 0; t < r.length[s]; ++t) {
          const definition::Trace trace = definition::forward(c.shape, exact, tokens);
          const double* logits = &trace.logits[(tokens.size() - 1) * c.shape.vocabulary];
          const double largest = *std::max_element(logits, logits + c.shape.vocabulary);
          CHECK(logits[x.tokens[t]] >= largest - 1e-5 * std::fmax(1, std::fabs(largest)));  // two logits may be closer than floats tell apart
          likeliest += logits[x.tokens[t]] == largest;
          ++written;
          const Numbers l = definition::log_probabilities(c.shape.vocabulary, logits, 1.0);
          CHECK(std::fabs(pass.log_probability()[s * c.shape.response + t] - l[x.tokens[t]]) < 6e-6 * std::fmax(1, std::fabs(largest)));
          tokens.push_back(x.tokens[t]);
        }
      }
      CHECK(likeliest * 10 >= written * 9);
    }
}

TEST_CASE("of equally likely tokens the first is written", "[transformer]") {
  const Case& c = cases[0];
  NetWeights w = weights(c.shape, 28);
  std::fill_n(w.flat.data(), w.flat.size(), 0.0f);  // every logit is 0
  TransformerPass pass(c.shape, c.prompts, c.per_prompt, best_isa(), false);
  const Batch b = batch(c, 29);
  TokenRollouts r;
  pass.write_likeliest(w, c.prompts, b.prompt.data(), r);
  for (int s = 0; s < c.prompts * c.per_prompt; ++s)
    for (int t = 0; t < r.length[s]; ++t) CHECK(r.token[s * c.shape.response + t] == 0);
}

TEST_CASE("reading what was sampled gives the same bits, kept or not, in whatever batch", "[transformer]") {
  for (const Case& c : cases) {
    INFO(c.name);
    const NetWeights w = weights(c.shape, 23);
    const Batch b = batch(c, 24);
    TransformerPass sampled(c.shape, c.prompts, c.per_prompt, best_isa(), true),
        reader(c.shape, c.prompts, c.per_prompt, best_isa(), false);
    TokenRollouts r, again;
    sampled.sample(w, c.prompts, b.prompt.data(), b.word.data(), 0.8, 0.9, r);
    const std::vector<float> probability = sampled.log_probability();
    reader.read(w, c.prompts, b.prompt.data(), r, 0.8);
    CHECK(reader.log_probability() == probability);
    sampled.read(w, c.prompts, b.prompt.data(), r, 0.8);
    CHECK(sampled.log_probability() == probability);
    reader.sample(w, c.prompts, b.prompt.data(), b.word.data(), 0.8, 0.9, again);
    CHECK(again.token == r.token);
    CHECK(again.length == r.length);
    if (best_engine(best_isa()) == ProductEngine::blas) continue;  // its bits depend on a row's place
    // the last prompt alone
    TransformerPass alone(c.shape, 1, c.per_prompt, best_isa(), false);
    const int from = (c.prompts - 1) * c.per_prompt;
    alone.sample(w, 1, &b.prompt[(c.prompts - 1) * c.shape.prompt], &b.word[from * c.shape.response], 0.8, 0.9, again);
    CHECK(std::equal(again.token.begin(), again.token.end(), r.token.begin() + from * c.shape.response));
    CHECK(std::equal(probability.begin() + from * c.shape.response, probability.end(), alone.log_probability().begin()));
  }
}

TEST_CASE("the fast gradient meets the definition's in every block, under every option of the loss", "[transformer]") {
  std::mt19937 g(25);
  std::normal_distribution<float> z(0, 1);
  for (const Case& c : cases)
    for (const Isa isa : isas) {
      if (!has_isa(isa)) continue;
      const NetWeights w = weights(c.shape, 26);
      const Numbers exact = numbers(w.flat);
      TransformerPass pass(c.shape, c.prompts, c.per_prompt, isa, true);
      TransformerBackward back(pass);
      const Batch b = batch(c, 27);
      const int sequences = c.prompts * c.per_prompt;
      const double temperature = 0.8;
      TokenRollouts r;
      pass.sample(w, c.prompts, b.prompt.data(), b.word.data(), temperature, 1.0, r);
      for (const TransformerLoss& loss :
           {TransformerLoss{TokenMean::token_mean, 0, 0, 0}, TransformerLoss{TokenMean::sequence_mean, 0.3, 0.2, 0.1},
            TransformerLoss{TokenMean::sequence_sum, 0.05, 0, 0}, TransformerLoss{TokenMean::token_mean, 0, 0.2, 0.5}}) {
        INFO(c.name << " " << isa_name(isa) << " kl " << loss.kl << " clip " << loss.ratio_clip << " entropy " << loss.entropy);
        std::vector<float> coefficient(sequences), old(sequences * c.shape.response), reference(old.size());
        std::vector<std::uint8_t> kept(sequences, 1);
        kept[sequences - 1] = loss.kl == 0;
        std::vector<Response> responses;
        for (int s = 0; s < sequences; ++s) {
          Response x = response(c, b, r, s);
          x.coefficient = coefficient[s] = z(g);
          x.kept = kept[s];
          for (int t = 0; t < r.length[s]; ++t) {
            const int i = s * c.shape.response + t;
            old[i] = pass.log_probability()[i] + 0.3f * z(g);
            reference[i] = pass.log_probability()[i] + 0.5f * z(g);
            if (loss.ratio_clip > 0) x.old_log.push_back(old[i]);
            if (loss.kl > 0) x.reference.push_back(reference[i]);
          }
          responses.push_back(x);
        }
        TokenCoefficients by;
        const TransformerReport report = token_coefficients(
            pass, r, loss,
            {coefficient.data(), kept.data(), loss.ratio_clip > 0 ? old.data() : nullptr, loss.kl > 0 ? reference.data() : nullptr}, by);
        std::vector<float> gradient(w.table.count);
        back.run(pass, w, r, by, gradient.data());
        Numbers expected;
        const double value = definition::objective(c.shape, exact, temperature, loss, responses, &expected);
        CHECK(std::fabs(report.objective - value) < 1e-5 * (1 + std::fabs(value)));
        for (const WeightBlock& block : w.table.blocks) {
          double worst = 0, size = 0;
          for (std::size_t j = block.at; j < block.at + block.count(); ++j) {
            worst = std::fmax(worst, std::fabs(gradient[j] - expected[j]));
            size = std::fmax(size, std::fabs(expected[j]));
          }
          INFO(block.name << " error " << worst << " of " << size);
          // a few dozen roundings of 6e-8, forward and back, of sums whose terms are larger than they are
          CHECK(worst <= 1e-5 * size);
          if (c.shape.response > 1) CHECK(size > 0);
        }
      }
    }
}

TEST_CASE("LoRA trains the adapters that the definition describes, and leaves the base alone", "[transformer]") {
  for (const int rank : {1, 5, 16}) {
    const TransformerShape s = transformer_samples::tiny(true);
    const Case c{"tiny", s, 3, 4};
    TransformerConfig config;
    config.lora_rank = rank;
    config.lora_alpha = 4;
    OptimizerConfig optimizer;
    optimizer.kind = OptimizerKind::sgd;
    optimizer.schedule = ScheduleKind::constant;
    optimizer.warmup = 0;
    optimizer.lr = 0.5;
    const Batch b = batch(c, 32);
    const NetWeights start = weights(s, 33);
    TransformerPolicy policy(config, s, c.prompts, c.per_prompt, optimizer, 10,
                             transformer_start(config, s, 31, {start.flat.data(), start.table.count}), best_isa());
    Numbers adapters(policy.state().trained.begin(), policy.state().trained.end());
    const Numbers base = numbers(start.flat);
    std::vector<float> coefficient;
    for (int i = 0; i < c.prompts * c.per_prompt; ++i) coefficient.push_back(static_cast<float>(i % 5 - 2));
    const TransformerLoss loss{TokenMean::token_mean, 0.1, 0.2, 0.0};
    // B is zero at first: the model is its base
    CHECK(std::equal(policy.weights().flat.data(), policy.weights().flat.data() + base.size(), start.flat.data()));
    for (int t = 0; t < 4; ++t) {
      policy.sample(b.prompt.data(), b.word.data());
      policy.refer();
      std::vector<Response> responses;
      for (int i = 0; i < c.prompts * c.per_prompt; ++i) {
        Response x = response(c, b, policy.rollouts(), i);
        x.coefficient = coefficient[i];
        x.reference = definition::response_log_probabilities(s, base, 1.0, x);
        responses.push_back(x);
      }
      Numbers dw;
      definition::objective(s, definition::merge(policy.adapters(), base, adapters), 1.0, loss, responses, &dw);
      const Numbers expected = definition::adapter_gradient(policy.adapters(), adapters, dw);
      policy.learn(t, coefficient.data(), nullptr, loss);
      double worst = 0, size = 0;
      for (std::size_t i = 0; i < adapters.size(); ++i) {
        worst = std::fmax(worst, std::fabs(policy.gradient()[i] - expected[i]));
        size = std::fmax(size, std::fabs(expected[i]));
        adapters[i] = policy.state().trained[i];
      }
      INFO("rank " << rank << " step " << t << " error " << worst << " of " << size);
      CHECK(size > 1e-3);
      CHECK(worst < 1e-5 * size);
      CHECK(std::equal(base.begin(), base.end(), policy.initial().flat.data()));
    }
    CHECK(std::any_of(policy.adapters().blocks.begin(), policy.adapters().blocks.end(), [&](const WeightBlock& block) {
      return block.deviation == 0 && adapters[block.at] != 0;  // B moved
    }));
  }
}
