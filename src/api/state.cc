#include "api/state.h"

#include "api/progress.h"

#include <algorithm>

namespace dnheap::v0 {

State::State(std::unique_ptr<dnheap::Snapshot> of) : of_(std::move(of)) {}
State::~State() = default;

report::Answer State::ask(const dnheap::Verb &verb, const dnheap::Question &question) {
  // Lost bytes are taken out of the memory, so a new size means that kept results must be discarded.
  struct Losses {
    State &state;
    u64 known;
    ~Losses() {
      if (state.of_->target().memory.size() == known)
        return;
      state.kept_ = {};
      ++state.losses_;
    }
  } losses{*this, of_->target().memory.size()};
  return dnheap::ask(verb, *of_, question);
}

void State::check_memory() {
  if (of_->has_lost_memory())
    throw Error(of_->target().path + ": part of the file could not be read, or was changed meanwhile; open it again");
}

const std::vector<dnheap::Address> &State::types() {
  if (!kept_.types) {
    std::vector<dnheap::Address> types;
    for (const dnheap::TypeTally &type : of_->tally().types)
      if (type.method_table != of_->runtime().types().free_object_method_table())
        types.push_back(type.method_table);
    kept_.types = std::move(types);
  }
  return *kept_.types;
}

std::optional<TypeId> State::type_id(dnheap::Address method_table) {
  const std::vector<dnheap::Address> &all = types();
  auto at = std::lower_bound(all.begin(), all.end(), method_table);
  if (at == all.end() || *at != method_table)
    return std::nullopt;
  return TypeId(static_cast<u32>(at - all.begin()));
}

ObjectView &State::view() {
  if (!kept_.view)
    kept_.view = std::make_unique<ObjectView>(*of_);
  return *kept_.view;
}

FieldValues &State::values() {
  if (!kept_.values)
    kept_.values = std::make_unique<FieldValues>(of_->runtime());
  return *kept_.values;
}

std::span<const u64> State::first_references() {
  const Edges edges = of_->graph().edges();
  if (edges.short_first.empty())
    return edges.first;
  LargeArray<u64> &out = kept_.first_references;
  if (out.size() != edges.short_first.size()) {
    out = LargeArray<u64>(edges.short_first.size());
    std::copy(edges.short_first.begin(), edges.short_first.end(), out.begin());
  }
  return out;
}

const Referrers &State::referrers() {
  if (!kept_.referrers)
    kept_.referrers = std::make_unique<Referrers>(of_->graph().edges(), of_->threads(), of_->watch());
  return *kept_.referrers;
}

const RetainedBySets &State::retained_by_sets() {
  if (!kept_.retained_by_sets)
    kept_.retained_by_sets = std::make_unique<RetainedBySets>(of_->graph().edges(), of_->sizes(), of_->owned_roots(),
                                                              of_->threads(), of_->watch());
  return *kept_.retained_by_sets;
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
  out.standard_input = options.standard_input;
  out.by_port = options.by_port;
  out.watch = watch(options.progress);
  return out;
}

} // namespace dnheap::v0
