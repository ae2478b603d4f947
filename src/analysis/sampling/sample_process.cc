#include "analysis/sampling/sample_process.h"

#include "analysis/answer_head.h"
#include "analysis/sampling/stack_samples.h"
#include "base/process/process.h"
#include "base/text.h"
#include "snapshot/attached_process.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <random>
#include <thread>

namespace dnheap {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double most_paused = 0.05; // of the time

bool is_cancelled(const Watch &watch) { return watch.progress && watch.progress->cancel; }

// Waits in steps, so that Ctrl-C ends it.
void sleep_until(Clock::time_point until, const Watch &watch) {
  constexpr auto step = std::chrono::milliseconds(50);
  for (auto now = Clock::now(); now < until && !is_cancelled(watch); now = Clock::now())
    std::this_thread::sleep_for(std::min<Clock::duration>(step, until - now));
}

class Sampling {
public:
  Sampling(u64 pid, const SnapshotOptions &options, const SamplingOptions &sampling)
      : pid_(pid), start_(process_start(pid)), options_(options), sampling_(sampling) {}

  report::Answer run() {
    rehearse();
    // Stops at equal distances would see periodic work always, or never.
    std::mt19937_64 random(pid_);
    std::uniform_real_distribution<double> about(0.5, 1.5);
    begin_ = Clock::now();
    const auto end = begin_ + std::chrono::duration_cast<Clock::duration>(Seconds(sampling_.seconds));
    while (Clock::now() < end && !is_cancelled(options_.watch)) {
      const auto start = Clock::now();
      const double paused = take();
      if (has_ended())
        break;
      const Seconds wait(std::max(sampling_.every * about(random), paused / most_paused));
      sleep_until(std::min(end, start + std::chrono::duration_cast<Clock::duration>(wait)), options_.watch);
    }
    if (pauses_.empty()) {
      options_.watch.check();
      throw Error(has_ended() ? fmt::format("process {} ended before a sample was taken", pid_) : why_not_);
    }
    return answer();
  }

private:
  bool has_ended() const { return !start_ || process_start(pid_) != start_; }
  double seconds() const { return Seconds(Clock::now() - begin_).count(); }

  // Takes a sample that does not count, to learn which memory a sample needs.
  void rehearse() {
    const std::unique_ptr<Snapshot> snapshot = Snapshot::attach_briefly(pid_, options_, {});
    StackSamples().add(*snapshot, {}, 0);
    needed_ = snapshot->process()->fetched();
  }

  // Returns for how long the process stood still. Another program may have stopped it for a while.
  double take() {
    try {
      const double at = seconds();
      const std::unique_ptr<Snapshot> snapshot = Snapshot::attach_briefly(pid_, options_, needed_);
      const double paused = snapshot->process()->pause_seconds().value_or(0);
      samples_.add(*snapshot, snapshot->process()->system_threads(), at);
      if (pauses_.empty())
        begin_answer(*snapshot);
      needed_ = snapshot->process()->fetched();
      pauses_.push_back(paused);
      return paused;
    } catch (const Interrupted &) {
      return 0;
    } catch (const Error &error) {
      ++missed_;
      why_not_ = error.what();
      return 0;
    }
  }

  // The heap does not matter: what is odd about it is no note of this answer.
  void begin_answer(const Snapshot &snapshot) {
    answer_ = dnheap::begin_answer(snapshot, "sample", HeapSum::none);
    answer_.completeness.emplace();
    answer_.completeness->is_walked = false;
  }

  report::Answer answer() {
    report::Answer out = std::move(answer_);
    Notes &notes = out.completeness->notes;
    const auto [shortest, longest] = std::minmax_element(pauses_.begin(), pauses_.end());
    const double paused = std::accumulate(pauses_.begin(), pauses_.end(), 0.0), all = seconds();
    out.headline.facts += fmt::format("; {} {} in {:.1f} s, stopped for {:.0f} to {:.0f} ms, {:.1f} % of the time",
                                      pauses_.size(), pauses_.size() == 1 ? "sample" : "samples", all,
                                      std::ceil(*shortest * 1000), std::ceil(*longest * 1000), 100 * paused / all);
    std::vector<report::Cell> findings;
    for (const std::string &finding : samples_.findings()) {
      findings.emplace_back(finding);
      out.lead += (out.lead.empty() ? "" : "\n\n") + finding;
    }
    const bool ended = has_ended();
    out.target.push_back({"sampling", std::vector<report::Fact>{{"samples", u64{pauses_.size()}},
                                                                {"seconds", all},
                                                                {"paused_ms", paused * 1000},
                                                                {"longest_pause_ms", *longest * 1000},
                                                                {"missed", missed_},
                                                                {"ended", ended},
                                                                {"findings", std::move(findings)}}});
    out.tables.push_back(samples_.threads_table());
    out.tables.push_back(samples_.locks_table());
    out.tables.push_back(samples_.stacks_table());
    for (report::Table &tree : samples_.tree_tables())
      out.tables.push_back(std::move(tree));
    if (ended)
      notes.add(fmt::format("the process ended after {:.1f} s", all));
    else if (missed_)
      notes.add(Subject::dump, Effect::numbers,
                fmt::format("{} {} could not be taken: {}", missed_, missed_ == 1 ? "sample" : "samples", why_not_));
    for (const auto &[problem, times] : samples_.problems())
      notes.add(Subject::stacks, Effect::none,
                fmt::format("in {} of {} samples: {}", std::min<u64>(times, pauses_.size()), pauses_.size(), problem));
    if (!ended)
      out.next_command = fmt::format("dnheap {} --pid={}", samples_.has_locks() ? "locks" : "threads", pid_);
    return out;
  }

  const u64 pid_;
  const std::optional<u64> start_; // of the process: its number may be used again
  const SnapshotOptions options_;
  const SamplingOptions sampling_;
  Clock::time_point begin_;
  report::Answer answer_;
  StackSamples samples_;
  std::vector<std::pair<Address, Address>> needed_; // memory that the last sample read, by address
  std::vector<double> pauses_;                      // of each sample, in seconds
  u64 missed_ = 0;                                  // samples that could not be taken, the last one's reason
  std::string why_not_;
};

} // namespace

report::Answer sample_process(u64 pid, const SnapshotOptions &options, const SamplingOptions &sampling) {
  return Sampling(pid, options, sampling).run();
}

} // namespace dnheap
