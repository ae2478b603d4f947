#include "dnheap/snapshot.h"

#include "analysis/names/named_types.h"
#include "api/answer_parts.h"
#include "api/state.h"
#include "base/text.h"
#include "snapshot/attached_process.h"

namespace dnheap::v0 {

Snapshot::Snapshot(std::unique_ptr<State> state) : state_(std::move(state)) {}
Snapshot::Snapshot(Snapshot &&) noexcept = default;
Snapshot &Snapshot::operator=(Snapshot &&) noexcept = default;
Snapshot::~Snapshot() = default;

Snapshot Snapshot::open(const std::string &path, const OpenOptions &options) {
  return State::snapshot(dnheap::Snapshot::open(path, State::inner(options)));
}

Snapshot Snapshot::attach(std::uint64_t pid, const OpenOptions &options) {
  return State::snapshot(dnheap::Snapshot::attach(pid, State::inner(options)));
}

TargetInfo Snapshot::info() const {
  const dnheap::Snapshot &of = state_->inside();
  const Runtime &runtime = of.runtime();
  const Target &target = of.target();
  const GCFlavour gc = runtime.gc_flavour();
  TargetInfo out;
  out.path = target.path;
  out.container = target.container;
  out.operating_system = dnheap::name_of(target.os);
  out.architecture = dnheap::name_of(target.architecture);
  out.pointer_size = target.format().pointer_size;
  out.pid = target.pid;
  out.runtime = runtime.kind();
  out.runtime_version = runtime.version();
  out.server_gc = gc.server;
  out.regions = gc.regions;
  out.gc_heaps = gc.heaps;
  out.notes = outer(target.notes);
  return out;
}

Heap Snapshot::heap() const {
  state_->inside().heap();
  return state_->heap();
}

Roots Snapshot::roots() const {
  state_->inside().roots();
  return state_->roots();
}

Liveness Snapshot::liveness() const {
  state_->inside().live();
  return state_->liveness();
}

Graph Snapshot::graph() const {
  state_->inside().graph();
  return state_->graph();
}

std::optional<Object> Snapshot::find_object(Address address) const {
  const ObjectIndex &index = state_->inside().index();
  ObjectId object = index.find(address.value());
  if (object == no_object && state_->inside().heap().holds(address.value())) {
    object = index.last_at_or_before(address.value());
    if (object != no_object && address.value() - index.address(object) >= state_->view().aligned_size(object))
      object = no_object; // the object ends before the address
  }
  return object == no_object ? std::nullopt : std::optional(state_->object(object));
}

Object Snapshot::object(Address address) const {
  std::string note; // says that the address is inside it
  return state_->object(state_->view().at(address.value(), note));
}

Type Snapshot::type(TypeId id) const {
  if (number_of(id) >= type_count())
    throw UsageError("there is no type " + std::to_string(number_of(id)) + ": the heap has " +
                     std::to_string(type_count()));
  return state_->type(state_->types()[number_of(id)]);
}

std::uint32_t Snapshot::type_count() const { return static_cast<u32>(state_->types().size()); }

std::vector<Type> Snapshot::types_called(const std::string &name) const {
  const NamedTypes named = dnheap::types_called(state_->inside(), name);
  TypeSystem &types = state_->inside().runtime().types();
  std::vector<Type> out;
  for (dnheap::Address type : state_->types())
    if (named.has(types.name(type)))
      out.push_back(state_->type(type));
  return out;
}

std::uint64_t Snapshot::read(Address address, std::span<std::byte> out) const {
  const Memory &memory = state_->inside().target().memory;
  u64 done = 0;
  while (done < out.size()) {
    const Bytes piece = memory.view_up_to(address.value() + done, out.size() - done);
    if (piece.empty())
      break;
    std::memcpy(out.data() + done, piece.data(), piece.size());
    done += piece.size();
  }
  return done;
}

bool Snapshot::is_pausing() const {
  const AttachedProcess *process = state_->inside().process();
  return process && process->is_pausing();
}

void Snapshot::release_process() {
  if (AttachedProcess *process = state_->inside().process())
    process->release();
}

std::optional<double> Snapshot::pause_seconds() const {
  const AttachedProcess *process = state_->inside().process();
  return process ? process->pause_seconds() : std::nullopt;
}

} // namespace dnheap::v0
