#include "explore/compared_dumps.h"

#include "analysis/records/open_record.h"
#include "analysis/verb.h"

#include <algorithm>
#include <new>
#include <utility>

namespace dnheap::explore {

namespace {

// The time of a file is not when the dump was taken as soon as somebody copies it.
bool knows_its_time(const Record &record) { return record.taken && record.clock != name_of(TakenAt::Clock::file); }

} // namespace

ComparedDumps::ComparedDumps(std::vector<std::string> others, SnapshotOptions options)
    : others_(std::move(others)), options_(std::move(options)) {}

bool ComparedDumps::go_on(Snapshot &shown) {
  if (next_ < others_.size()) {
    try {
      of_others_.push_back(open_record(others_[next_], options_));
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &error) {
      problems_.push_back(error.what());
    } catch (const std::bad_alloc &) {
      problems_.push_back(others_[next_] + ": out of memory");
    }
    ++next_;
    return true;
  }
  if (of_shown_ || empty())
    return false;
  shown.foresee(all_passes);
  of_shown_ = on_sound_memory(shown, [](Snapshot &of) { return take_record(of); });
  return true;
}

std::vector<Record> ComparedDumps::records(const std::vector<u64> &numbers) const {
  std::vector<const Record *> order;
  for (const Record &record : of_others_)
    order.push_back(&record);
  if (of_shown_)
    order.push_back(&*of_shown_);
  if (std::ranges::all_of(order, [](const Record *record) { return knows_its_time(*record); }))
    std::ranges::stable_sort(order, {}, [](const Record *record) { return *record->taken; });
  std::vector<Record> out;
  for (u64 number : numbers) {
    if (number >= order.size())
      throw UsageError("dumps: there is no dump " + std::to_string(number) + "; they are counted from 0");
    out.push_back(*order[number]);
  }
  if (numbers.empty())
    for (const Record *record : order)
      out.push_back(*record);
  return out;
}

} // namespace dnheap::explore
