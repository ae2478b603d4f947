#include "analysis/sampling/sample_process.h"

#include "analysis/answer_head.h"
#include "analysis/sampling/stack_samples.h"
#include "base/text.h"
#include "snapshot/attached_process.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
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
      : pid_(pid), options_(options), sampling_(sampling) {}

  report::Answer run() {
    rehearse();
    const auto begin = Clock::now(),
               end = begin + std::chrono::duration_cast<Clock::duration>(Seconds(sampling_.seconds));
    while (Clock::now() < end && !is_cancelled(options_.watch)) {
      const auto start = Clock::now();
      if (!take())
        break;
      const Seconds pause = std::max(Seconds(sampling_.every), Seconds(pauses_.back() / most_paused));
      sleep_until(std::min(end, start + std::chrono::duration_cast<Clock::duration>(pause)), options_.watch);
    }
    if (pauses_.empty()) {
      options_.watch.check();
      throw Error(fmt::format("process {} ended before a sample was taken", pid_));
    }
    return answer(Seconds(Clock::now() - begin).count());
  }

private:
  // Takes a sample that does not count, to learn which memory a sample needs.
  void rehearse() {
    const std::unique_ptr<Snapshot> snapshot = Snapshot::attach_briefly(pid_, options_, {});
    StackSamples().add(*snapshot, {});
    needed_ = snapshot->process()->fetched();
  }

  // Returns false if the process has ended.
  bool take() {
    try {
      const std::unique_ptr<Snapshot> snapshot = Snapshot::attach_briefly(pid_, options_, needed_);
      samples_.add(*snapshot, snapshot->process()->running());
      if (pauses_.empty())
        head_ = begin_answer(*snapshot, "sample", HeapSum::none);
      if (snapshot->process()->has_ended())
        return false;
      needed_ = snapshot->process()->fetched();
      pauses_.push_back(snapshot->process()->pause_seconds().value_or(0));
      return true;
    } catch (const Interrupted &) {
      return false;
    } catch (const Error &) {
      if (pauses_.empty())
        throw;
      return false;
    }
  }

  report::Answer answer(double seconds) {
    report::Answer out = std::move(head_);
    const auto [shortest, longest] = std::minmax_element(pauses_.begin(), pauses_.end());
    double paused = 0;
    for (double pause : pauses_)
      paused += pause;
    out.headline.facts += fmt::format("; {} {} in {:.1f} s, stopped for {:.0f} to {:.0f} ms, {:.1f} % of the time",
                                      pauses_.size(), pauses_.size() == 1 ? "sample" : "samples", seconds,
                                      std::ceil(*shortest * 1000), std::ceil(*longest * 1000), 100 * paused / seconds);
    std::vector<report::Cell> findings;
    for (const std::string &finding : samples_.findings()) {
      findings.emplace_back(finding);
      out.lead += (out.lead.empty() ? "" : "\n\n") + finding;
    }
    out.target.push_back({"sampling", std::vector<report::Fact>{{"samples", u64{pauses_.size()}},
                                                                {"seconds", seconds},
                                                                {"paused_ms", paused * 1000},
                                                                {"longest_pause_ms", *longest * 1000},
                                                                {"findings", std::move(findings)}}});
    out.tables.push_back(samples_.threads_table());
    out.tables.push_back(samples_.locks_table());
    out.tables.push_back(samples_.stacks_table());
    for (report::Table &tree : samples_.tree_tables())
      out.tables.push_back(std::move(tree));
    for (const auto &[problem, times] : samples_.problems())
      out.completeness->notes.add(Subject::stacks, Effect::none,
                                  fmt::format("in {} of the samples a stack is not complete: {}", times, problem));
    out.next_command = fmt::format("dnheap threads --pid={}", pid_);
    return out;
  }

  const u64 pid_;
  const SnapshotOptions options_;
  const SamplingOptions sampling_;
  report::Answer head_;
  StackSamples samples_;
  std::vector<std::pair<Address, Address>> needed_; // memory that the last sample read, by address
  std::vector<double> pauses_;                      // of each sample, in seconds
};

} // namespace

report::Answer sample_process(u64 pid, const SnapshotOptions &options, const SamplingOptions &sampling) {
  return Sampling(pid, options, sampling).run();
}

} // namespace dnheap
