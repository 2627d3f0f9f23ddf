// Writes lines of runs and of curves in CSV or JSON. Both formats share one list of fields.
#include "results/export/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "kernels/shared/utf8.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {
namespace {

constexpr std::size_t held_bytes = std::size_t{1} << 18;

std::string json_text(std::string_view text) { return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace); }

std::string csv_text_field(std::string_view text) { return csv_field(printable_text(text, "\t\n")); }

template <class Number>
void append_number(std::string& out, Number value, bool json) {
  if (std::isnan(value)) out += json ? "null" : "";
  else if (json && std::isinf(value)) out += value > 0 ? "1e999" : "-1e999";
  else if (json && value == 0 && std::signbit(value)) out += "-0.0";  // JSON reads "-0" as an integer, which has no sign
  else fmt::format_to(std::back_inserter(out), "{}", value);
}

const Curve* curve_of(const std::vector<Curve>& curves, std::string_view name) {
  const auto found = std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.name == name; });
  return found == curves.end() ? nullptr : &*found;
}

}  // namespace

/// Writes the fields of one line, one after the other. For JSON, the caller passes names that are quoted already.
struct RunExport::Line {
  std::string& out;
  const bool json;
  bool first = true;
  void name(const std::string& name) {
    if (!std::exchange(first, false)) out += ',';
    if (json) (out += name) += ':';
  }
  void text(const std::string& called, std::string_view value) {
    name(called);
    out += json ? json_text(value) : csv_text_field(value);
  }
  void integer(const std::string& called, long long value) {
    name(called);
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
  template <class Number>
  void number(const std::string& called, Number value) {
    name(called);
    append_number(out, value, json);
  }
};

RunExport::RunExport(const ResultFile& head, ExportForm form, Put put) : form_(std::move(form)), put_(std::move(put)) {
  const bool json = form_.format == ExportFormat::jsonl, words = form_.what == ExportWhat::curves;
  const auto called = [&](const std::string& name) { return json ? json_text(name) : csv_text_field(name); };
  const std::pair<const char*, Field::Kind> known[] = {{"id", Field::id},
                                                       {"env", Field::env},
                                                       {"rater", Field::rater},
                                                       {"policy", Field::policy},
                                                       {"estimator", Field::estimator},
                                                       {"votes", Field::votes},
                                                       {"seed", Field::seed},
                                                       {"step_time_median", Field::step_time},
                                                       {"status", Field::status},
                                                       {"error", Field::error},
                                                       {"key", Field::key}};
  std::size_t finals = 0;
  for (const ColumnInfo& column : head.all) {
    const auto fixed = std::find_if(std::begin(known), std::end(known), [&](const auto& k) { return k.first == column.name; });
    if (!column.axis.empty()) fields_.push_back({Field::axis, called(column.name), column.axis});
    else if (fixed != std::end(known)) {
      if (words && fixed->second > Field::seed) continue;
      fields_.push_back({fixed->second, called(column.name), {}});
    } else if (column.numeric && !is_reserved_column(column.name)) {
      if (!words) fields_.push_back({Field::final_value, called(column.name), {}, finals});
      ++finals;
    }
  }
  seconds_ = std::erase(form_.curves, seconds_curve) > 0;
  for (const std::string& name : form_.curves) curve_names_.push_back(called(name));
  for (const char* stage : stage_names)
    stage_fields_.push_back(called(words ? fmt::format("{}_{}", seconds_curve, stage) : std::string(stage)));
}

void RunExport::header() {
  if (form_.format == ExportFormat::jsonl) return;
  if (form_.what == ExportWhat::rollouts) {
    text_ += fmt::format("{}{}\n", form_.several ? "run," : "", fmt::join(rollout_columns, ","));
    return;
  }
  text_ += "run";
  for (const Field& field : fields_) (text_ += ',') += field.name;
  if (form_.what == ExportWhat::curves) {
    text_ += ",step";
    for (const std::string& name : curve_names_) (text_ += ',') += name;
    if (seconds_)
      for (const std::string& name : stage_fields_) (text_ += ',') += name;
  }
  text_ += '\n';
}

void RunExport::add_fields(Line& line, std::size_t row, const RunRecord& run) const {
  line.integer("\"run\"", static_cast<long long>(row));
  for (const Field& field : fields_) {
    switch (field.kind) {
      case Field::id: line.text(field.name, run.id); break;
      case Field::env: line.text(field.name, run.env); break;
      case Field::rater: line.text(field.name, run.rater); break;
      case Field::policy: line.text(field.name, run.policy); break;
      case Field::estimator: line.text(field.name, run.estimator); break;
      case Field::votes: line.integer(field.name, run.votes); break;
      case Field::seed: line.integer(field.name, run.seed); break;
      case Field::step_time: line.number(field.name, run.step_time_median); break;
      case Field::status: line.text(field.name, run.status == RunStatus::ok ? "ok" : "failed"); break;
      case Field::error: line.text(field.name, run.error); break;
      case Field::key: line.text(field.name, run.key); break;
      case Field::final_value:
        line.number(field.name, field.place < run.finals.size() ? run.finals[field.place].value : std::numeric_limits<double>::quiet_NaN());
        break;
      case Field::axis: {
        const auto found = std::find_if(run.axes.begin(), run.axes.end(), [&](const Axis& a) { return a.first == field.axis_name; });
        if (found == run.axes.end()) {
          line.number(field.name, std::numeric_limits<double>::quiet_NaN());
          break;
        }
        std::visit(
            [&](const auto& value) {
              using Value = std::decay_t<decltype(value)>;
              if constexpr (std::is_same_v<Value, std::string>) line.text(field.name, value);
              else if constexpr (std::is_same_v<Value, double>) line.number(field.name, value);
              else line.integer(field.name, value);
            },
            found->second);
      }
    }
  }
}

void RunExport::add_steps(std::size_t row, const RunRecord& run) {
  const bool json = form_.format == ExportFormat::jsonl;
  std::string prefix = json ? "{" : "";
  Line words{prefix, json};
  add_fields(words, row, run);
  std::vector<const Curve*> curves;
  for (const std::string& name : form_.curves) curves.push_back(curve_of(run.curves, name));
  const bool timed = seconds_ && !run.seconds.empty();
  for (std::size_t i = 0; i < run.step.size(); ++i) {
    const float* seconds = timed ? run.seconds.data() + i * stage_count : nullptr;
    const bool defined = std::any_of(curves.begin(), curves.end(), [&](const Curve* c) { return c && !std::isnan(c->values[i]); }) ||
                         (seconds && !std::isnan(seconds[0]));
    if (!defined) continue;
    text_ += prefix;
    Line line{text_, json, false};
    line.integer("\"step\"", run.step[i]);
    for (std::size_t c = 0; c < curves.size(); ++c)
      line.number(curve_names_[c], curves[c] ? curves[c]->values[i] : std::numeric_limits<double>::quiet_NaN());
    for (std::size_t s = 0; s < stage_fields_.size() && seconds_; ++s)
      line.number(stage_fields_[s], seconds ? seconds[s] : std::numeric_limits<float>::quiet_NaN());
    text_ += json ? "}\n" : "\n";
    put_when(held_bytes);
  }
}

/// CSV has every column; JSON leaves `length` out of worlds that have none.
void RunExport::add_rollouts(std::size_t row, const RunRecord& run) {
  if (run.rollouts.empty()) return;
  rollouts_ = true;
  const bool json = form_.format == ExportFormat::jsonl;
  const Curve* columns[rollout_column_count];
  std::string names[rollout_column_count];
  for (int c = 0; c < rollout_column_count; ++c) columns[c] = curve_of(run.rollouts, rollout_columns[c]), names[c] = json_text(rollout_columns[c]);
  for (std::size_t i = 0; i < run.rollouts.front().values.size(); ++i) {
    text_ += json ? "{" : "";
    Line line{text_, json};
    if (form_.several) line.integer("\"run\"", static_cast<long long>(row));
    for (int c = 0; c < rollout_column_count; ++c)
      if (columns[c] || !json || c != rollout_length) line.number(names[c], columns[c] ? columns[c]->values[i] : std::numeric_limits<double>::quiet_NaN());
    text_ += json ? "}\n" : "\n";
    put_when(held_bytes);
  }
}

void RunExport::add_nested(Line& line, const RunRecord& run) const {
  const auto list = [&](std::size_t count, const auto& append) {
    line.out += '[';
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) line.out += ',';
      append(i);
    }
    line.out += ']';
  };
  line.name("\"curves\"");
  line.out += "{\"step\":";
  list(run.step.size(), [&](std::size_t i) { fmt::format_to(std::back_inserter(line.out), "{}", run.step[i]); });
  for (std::size_t c = 0; c < form_.curves.size(); ++c)
    if (const Curve* curve = curve_of(run.curves, form_.curves[c])) {
      line.out += ',' + curve_names_[c] + ':';
      list(curve->values.size(), [&](std::size_t i) { append_number(line.out, curve->values[i], true); });
    }
  if (seconds_ && !run.seconds.empty()) {
    line.out += fmt::format(",\"{}\":{{", seconds_curve);
    for (std::size_t s = 0; s < stage_fields_.size(); ++s) {
      line.out += (s == 0 ? "" : ",") + stage_fields_[s] + ':';
      list(run.step.size(), [&](std::size_t i) { append_number(line.out, run.seconds[i * stage_count + s], true); });
    }
    line.out += '}';
  }
  line.out += '}';
}

void RunExport::add(std::size_t row, const RunRecord& run) {
  if (!std::exchange(begun_, true)) header();
  if (form_.what == ExportWhat::curves) return add_steps(row, run);
  if (form_.what == ExportWhat::rollouts) return add_rollouts(row, run);
  const bool json = form_.format == ExportFormat::jsonl;
  if (json) text_ += '{';
  Line line{text_, json};
  add_fields(line, row, run);
  if (form_.what == ExportWhat::all) add_nested(line, run);
  text_ += json ? "}\n" : "\n";
  put_when(held_bytes);
}

void RunExport::end() { put_when(1); }

void RunExport::put_when(std::size_t bytes) {
  if (text_.size() < bytes) return;
  put_(text_);
  text_.clear();
}

}  // namespace odrpo
