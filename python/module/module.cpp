// Binds the numerics to Python: advantages and posterior scores of arrays, and every function of `compute`.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/functions.hpp"
#include "kernels/shared/failure.hpp"
#include "python/module/group_estimator.hpp"
#include "python/module/judge_posterior.hpp"
#include "python/module/scores.hpp"

namespace nb = nanobind;

namespace odrpo::python {
namespace {

using nlohmann::json;
using Array = nb::ndarray<nb::ro>;

/// Calls f(); what the program's functions throw becomes an exception of Python with the same words.
template <class F>
auto translated(F f) {
  try {
    return f();
  } catch (const app::Refusal& r) {
    const bool type = r.code == "wrong_type" || r.code == "unknown_argument" || r.code == "missing_argument";
    if (type) throw nb::type_error(r.message.c_str());
    throw nb::value_error(r.message.c_str());
  } catch (const Failure& f) {
    throw nb::value_error(f.what());
  } catch (const BadScore& b) {
    throw nb::value_error(b.what());
  }
}

std::string type_of(nb::handle x) { return nb::cast<std::string>(nb::type_name(x.type())); }

/// The array that an object is or shares, of any type and strides.
Array array_of(nb::handle x, const char* what) {
  Array array;
  if (std::strcmp(Py_TYPE(x.ptr())->tp_name, "MaskedArray") == 0)  // its buffer has no mask
    throw nb::type_error(fmt::format("{0}: a masked array has no place for its mask: give {0}.data, and mask = ~numpy.ma.getmaskarray({0})", what).c_str());
  if (!nb::try_cast(x, array, false)) {
    const nb::object type = nb::getattr(x, "dtype", nb::none());
    const std::string kind = type.is_none() ? std::string() : fmt::format(" of {}", nb::str(type).c_str());
    const char* hint = nb::hasattr(x, "to_numpy") ? "; .to_numpy() makes one" : !kind.empty() ? "; .astype(float) may make one" : "";
    throw nb::type_error(fmt::format("{}: an array of numbers in the memory of the CPU is needed (numpy, torch, JAX), not {}{}{}",
                                     what, type_of(x), kind, hint)
                             .c_str());
  }
  if (array.device_type() != nb::device::cpu::value) throw nb::value_error(fmt::format("{}: is on a device; copy it to the CPU", what).c_str());
  return array;
}

Number number_of(const Array& array, const char* what) {
  const auto type = array.dtype();
  const auto is = [&](nb::dlpack::dtype_code code, int bits) { return type.code == static_cast<std::uint8_t>(code) && type.bits == bits && type.lanes == 1; };
  using enum nb::dlpack::dtype_code;
  const std::pair<bool, Number> kinds[] = {
      {is(Float, 32), Number::float32}, {is(Float, 64), Number::float64}, {is(Int, 8), Number::int8},    {is(Int, 16), Number::int16},
      {is(Int, 32), Number::int32},     {is(Int, 64), Number::int64},     {is(UInt, 8), Number::uint8},  {is(UInt, 16), Number::uint16},
      {is(UInt, 32), Number::uint32},   {is(UInt, 64), Number::uint64},   {is(Bool, 8), Number::boolean}};
  for (const auto& [fits, number] : kinds)
    if (fits) return number;
  throw nb::type_error(fmt::format("{}: numbers are float32, float64, integers or booleans; convert others first", what).c_str());
}

/// The array as groups; with one dimension it is one group.
Matrix matrix_of(const Array& array, const char* what) {
  if (array.ndim() != 1 && array.ndim() != 2)
    throw nb::value_error(fmt::format("{}: [groups, members] or [members] is needed, not an array with {} dimensions", what, array.ndim()).c_str());
  const bool one = array.ndim() == 1;
  return {.number = number_of(array, what),
          .data = array.data(),
          .groups = one ? 1 : array.shape(0),
          .members = array.shape(one ? 0 : 1),
          .group_stride = one ? 0 : static_cast<std::ptrdiff_t>(array.stride(0)),
          .member_stride = static_cast<std::ptrdiff_t>(array.stride(one ? 0 : 1))};
}

/// An array beside the scores, in their shape; none for None.
Matrix beside_of(nb::handle x, Array& keep, const Array& scores, const char* what) {
  if (x.is_none()) return {};
  keep = array_of(x, what);
  bool same = keep.ndim() == scores.ndim();
  for (std::size_t i = 0; same && i < keep.ndim(); ++i) same = keep.shape(i) == scores.shape(i);
  if (!same) throw nb::value_error(fmt::format("{}: the shape of scores is needed", what).c_str());
  return matrix_of(keep, what);
}

enum class Framework { numpy, torch, jax };

Framework framework_of(nb::handle x) {
  const nb::object module = x.type().attr("__module__");
  const char* name = PyUnicode_AsUTF8(module.ptr());
  if (name == nullptr) throw nb::python_error();
  if (std::strncmp(name, "torch", 5) == 0) return Framework::torch;
  return std::strncmp(name, "jax", 3) == 0 ? Framework::jax : Framework::numpy;
}

/// A new array of the shape of `like` in a framework, whose numbers `fill` computes without the interpreter's lock.
template <class Real, class Fill>
nb::object filled(Framework framework, const Array& like, Fill fill) {
  const std::size_t size = like.size();
  Real* data = new Real[size];
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Real*>(p); });
  translated([&] {
    const nb::gil_scoped_release release;
    fill(std::span<Real>(data, size));
  });
  const std::size_t shape[2] = {like.shape(0), like.ndim() > 1 ? like.shape(1) : 0};
  switch (framework) {
    case Framework::torch: return nb::cast(nb::ndarray<nb::pytorch, Real>(data, like.ndim(), shape, owner));
    case Framework::jax: return nb::cast(nb::ndarray<nb::jax, Real>(data, like.ndim(), shape, owner));
    default: return nb::cast(nb::ndarray<nb::numpy, Real>(data, like.ndim(), shape, owner));
  }
}

/// Lists and tuples become arrays of numpy, buffers of no array library memory views, which always have strides; other objects stay as they are.
nb::object listed(nb::handle x) {
  if (PyObject_CheckBuffer(x.ptr()) && !nb::hasattr(x, "__dlpack__")) {
    nb::object view = nb::steal(PyMemoryView_FromObject(x.ptr()));
    if (!view.is_valid()) throw nb::python_error();
    return view;
  }
  if (!nb::isinstance<nb::list>(x) && !nb::isinstance<nb::tuple>(x)) return nb::borrow(x);
  return nb::module_::import_("numpy").attr("asarray")(x);
}

/// Calls fill(scores, lengths, out) for scores with their mask; out has the type of floats that scores have, float64 for integers.
template <class Fill>
nb::object of_scores(nb::handle given, nb::handle mask, nb::handle lengths, Fill fill) {
  const nb::object object = listed(given), there = listed(mask), tokens = listed(lengths);
  const Array array = array_of(object, "scores");
  Array kept, kept_tokens;
  const Scores scores{matrix_of(array, "scores"), beside_of(there, kept, array, "mask"), array.ndim() == 1};
  const Matrix length = beside_of(tokens, kept_tokens, array, "lengths");
  const auto run = [&](auto out) { fill(scores, length, out); };
  if (scores.scores.number == Number::float32) return filled<float>(framework_of(object), array, run);
  return filled<double>(framework_of(object), array, run);
}

/// JSON of a Python object: None is null, and so are numbers that are NaN; arrays become lists.
json json_of(nb::handle x, int depth = 0) {
  if (depth > 8) throw nb::value_error("an argument is nested too deeply");
  if (x.is_none()) return nullptr;
  if (PyBool_Check(x.ptr())) return nb::cast<bool>(x);
  if (PyLong_Check(x.ptr())) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(x.ptr(), &overflow);
    return overflow == 0 ? json(whole) : json(PyLong_AsDouble(x.ptr()));
  }
  if (PyFloat_Check(x.ptr())) {
    const double real = PyFloat_AS_DOUBLE(x.ptr());
    return real != real ? json(nullptr) : json(real);
  }
  if (nb::isinstance<nb::str>(x)) return nb::cast<std::string>(x);
  if (nb::isinstance<nb::list>(x) || nb::isinstance<nb::tuple>(x)) {
    json all = json::array();
    for (const nb::handle item : x) all.push_back(json_of(item, depth + 1));
    return all;
  }
  if (nb::isinstance<nb::dict>(x)) {
    json all = json::object();
    for (const auto [key, value] : nb::borrow<nb::dict>(x)) all[nb::cast<std::string>(nb::str(key))] = json_of(value, depth + 1);
    return all;
  }
  if (nb::hasattr(x, "tolist")) return json_of(x.attr("tolist")(), depth + 1);  // arrays, and their numbers
  throw nb::type_error(fmt::format("an argument is {}: numbers, words, lists and arrays are needed", type_of(x)).c_str());
}

/// Calls a function of `compute` with the arguments of `args`. Returns its answer as JSON text.
std::string call(const std::string& name, const nb::dict& args) {
  const json given = json_of(args);
  return translated([&] {
    const nb::gil_scoped_release release;
    return app::call_function(name, given);
  });
}

/// The model in the arrays of `export-estimator` (docs/export-estimator.md).
ScoreModel score_model_of(const json& tables) {
  ScoreModel model;
  try {
    tables.at("lowest").get_to(model.lowest);
    tables.at("per_level").get_to(model.per_level);
    tables.at("prior").get_to(model.prompts.prior);
    for (const auto& [name, table] : {std::pair("likelihood", &model.likelihood), std::pair("expected", &model.expected), std::pair("variance", &model.variance)})
      for (const json& row : tables.at(name)) {
        const auto numbers = row.get<std::vector<double>>();
        model.scores = static_cast<int>(numbers.size());
        table->insert(table->end(), numbers.begin(), numbers.end());
      }
  } catch (const json::exception& e) {
    throw app::Refusal{"wrong_type", std::string("tables: ") + e.what()};
  }
  return model;
}

nb::list described(std::span<const app::Argument> takes) {
  nb::list all;
  const auto text = [](std::string_view words) { return nb::str(words.data(), words.size()); };
  for (const app::Argument& a : takes) all.append(nb::make_tuple(text(a.name), text(a.help), a.optional || !a.beside.empty()));
  return all;
}

/// What `list --markdown functions` prints, for docstrings: (name, arguments, answer, help, source) of each function.
nb::list functions() {
  nb::list all;
  const auto text = [](std::string_view words) { return nb::str(words.data(), words.size()); };
  for (const app::ComputeFunction& f : app::compute_functions())
    all.append(nb::make_tuple(text(f.name), described(f.text.arguments), text(f.text.out), text(f.text.help), text(f.text.source)));
  return all;
}

}  // namespace
}  // namespace odrpo::python

NB_MODULE(_numerics, m) {
  using namespace odrpo::python;
  m.attr("__doc__") = "The compiled numerics of odrpo-bench; odrpo_bench.numerics and odrpo_bench.compute are its interface.";
  nb::class_<GroupEstimator>(m, "Estimator", "An estimator with its settings: a dict with the words that estimator_takes() has.")
      .def("__init__", [](GroupEstimator* self, const nb::dict& settings) {
        const json given = json_of(settings);
        translated([&] { new (self) GroupEstimator(given); });
      }, nb::arg("settings"))
      .def("__call__", [](GroupEstimator& self, nb::handle scores, nb::handle mask, nb::handle lengths) {
        return of_scores(scores, mask, lengths, [&](const Scores& s, const Matrix& tokens, auto out) { self.estimate(s, tokens, out); });
      }, nb::arg("scores").none(), nb::arg("mask").none() = nb::none(), nb::arg("lengths").none() = nb::none(),
         "Advantages of scores [groups, members] or [members].");
  nb::class_<JudgePosterior>(m, "Posterior", "Posterior scores under the model of a rater: a catalogue word, or the tables that `export-estimator` writes.")
      .def("__init__", [](JudgePosterior* self, const std::string& rater, const std::string& prior, int levels) {
        translated([&] { new (self) JudgePosterior(rater, prior, levels); });
      }, nb::arg("model"), nb::arg("prior"), nb::arg("levels"))
      .def("__init__", [](JudgePosterior* self, const nb::dict& tables) {
        const json given = json_of(tables);
        translated([&] { new (self) JudgePosterior(score_model_of(given)); });
      }, nb::arg("tables"))
      .def("__call__", [](JudgePosterior& self, nb::handle scores, nb::handle mask) {
        return of_scores(scores, mask, nb::none(), [&](const Scores& s, const Matrix&, auto out) { self.values(s, out); });
      }, nb::arg("scores").none(), nb::arg("mask").none() = nb::none(), "Posterior scores of scores [groups, members] or [members].");
  m.def("call", &call, nb::arg("name"), nb::arg("args"), "The answer of a function of `compute`, as JSON.");
  m.def("functions", &functions, "(name, arguments, answer, help, source) of each function of `compute`; an argument is (name, help, optional).");
  m.def("estimator_takes", [] { return described(estimator_takes(false)); }, "The settings of Estimator: (name, help, optional).");
}
