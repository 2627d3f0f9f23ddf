// Declares Team: threads that share the work of one caller, many times a second.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace odrpo {

/// The calling thread and size() - 1 others that help it. Who does a part of the work changes no result, as long as parts are independent.
/// Others have FlushSubnormals. They do not survive fork(): a child needs a team of its own.
class Team {
 public:
  /// Starts size - 1 threads; fewer if the system allows no more.
  explicit Team(int size = 1);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  int size() const { return static_cast<int>(others_.size()) + 1; }

  struct Range {
    int from, to;
  };
  /// The part of 0..n - 1 that is a member's, perhaps empty. Each `from` is a multiple of `step`, or n.
  Range part(int n, int step, int member) const {
    const int steps = (n + step - 1) / step;
    const auto at = [&](int i) { return std::min(n, static_cast<int>(static_cast<std::int64_t>(steps) * i / size()) * step); };
    return {at(member), at(member + 1)};
  }
  /// Calls work(member) for each member 0..size() - 1, and returns when all are done. `work` must not throw. Only one thread calls it at a time.
  template <class Work>
  void each(const Work& work) {
    if (size() > 1) begin([](const void* of, int member) { (*static_cast<const Work*>(of))(member); }, &work);
    work(0);
    if (size() > 1) finish();
  }
  /// Calls work(from, to) for each member's part of 0..n - 1 that is not empty.
  template <class Work>
  void share(int n, int step, const Work& work) {
    each([&](int member) {
      if (const Range r = part(n, step, member); r.from < r.to) work(r.from, r.to);
    });
  }

 private:
  using Part = void (*)(const void* of, int member);
  void begin(Part work, const void* of);
  void finish();
  void help(int member);

  Part part_ = nullptr;  ///< null: the team ends
  const void* of_ = nullptr;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<int> busy_{0};  ///< others that have not finished this round
  std::vector<std::thread> others_;
};

/// A team of the calling thread alone; any thread may use it.
Team& alone();

}  // namespace odrpo
