#include "api/state.h"

#include "api/progress.h"

#include <algorithm>

namespace dnheap::v0 {

State::State(std::unique_ptr<dnheap::Snapshot> of) : of_(std::move(of)) {}
State::~State() = default;

void State::check_memory() {
  if (of_->has_lost_memory())
    throw Error(of_->target().path + ": part of it was lost while it was read; open it again");
}

const std::vector<dnheap::Address> &State::types() {
  if (!types_) {
    std::vector<dnheap::Address> types;
    for (const dnheap::TypeTally &type : of_->tally().types)
      if (type.method_table != of_->runtime().types().free_object_method_table())
        types.push_back(type.method_table);
    types_ = std::move(types);
  }
  return *types_;
}

std::optional<TypeId> State::type_id(dnheap::Address method_table) {
  const std::vector<dnheap::Address> &all = types();
  auto at = std::lower_bound(all.begin(), all.end(), method_table);
  if (at == all.end() || *at != method_table)
    return std::nullopt;
  return TypeId(static_cast<u32>(at - all.begin()));
}

ObjectView &State::view() {
  if (!view_)
    view_ = std::make_unique<ObjectView>(*of_);
  return *view_;
}

FieldValues &State::values() {
  if (!values_)
    values_ = std::make_unique<FieldValues>(of_->runtime());
  return *values_;
}

const Referrers &State::referrers() {
  if (!referrers_)
    referrers_ = std::make_unique<Referrers>(of_->graph().edges(), of_->threads(), of_->watch());
  return *referrers_;
}

const RetainedBySets &State::retained_by_sets() {
  if (!retained_by_sets_)
    retained_by_sets_ = std::make_unique<RetainedBySets>(of_->graph().edges(), of_->graph().sizes(), of_->owned_roots(),
                                                         of_->threads(), of_->watch());
  return *retained_by_sets_;
}

Snapshot State::snapshot(std::unique_ptr<dnheap::Snapshot> of) {
  return Snapshot(std::make_unique<State>(std::move(of)));
}

Watch State::watch(Progress *progress) {
  return progress ? Watch{&progress->inside_->progress, &progress->inside_->times} : Watch{};
}

SnapshotOptions State::inner(const OpenOptions &options) {
  SnapshotOptions out;
  out.module_folders = options.module_folders;
  out.temp_dir = options.temp_dir;
  out.threads = options.threads;
  out.pause = options.pause;
  out.max_memory = options.max_memory;
  out.runtime = options.runtime;
  out.record_reads = options.record_reads;
  out.watch = watch(options.progress);
  return out;
}

} // namespace dnheap::v0
