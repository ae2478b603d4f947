#include "dnheap/roots.h"

#include "api/answer_parts.h"
#include "api/state.h"
#include "objects/live.h"
#include "objects/roots.h"

namespace dnheap::v0 {

static_assert(static_cast<u8>(RootKind::stack_conservative) == static_cast<u8>(dnheap::RootKind::stack_conservative));
static_assert(root_kind_count == static_cast<u8>(RootKind::stack_conservative) + 1);

std::uint64_t Roots::count() const { return state_->inside().roots().roots.size(); }

Root Roots::operator[](std::uint64_t number) const {
  const RootSet &all = state_->inside().roots();
  if (number >= all.roots.size())
    throw UsageError("there is no root " + std::to_string(number) + ": there are " + std::to_string(all.roots.size()));
  const dnheap::Root &of = all.roots[number];
  const RootThread *thread = all.thread(of);
  return {Address(of.slot),     Address(of.object), static_cast<RootKind>(of.kind),
          kind_text(of),        all.name(of),       thread ? thread->text() : "",
          of.is_conservative(), of.interior,        of.pinned};
}

std::vector<Note> Roots::problems() const {
  std::vector<Note> out;
  for (const dnheap::Note &note : state_->inside().roots().notes)
    if (note.effect != Effect::none)
      out.push_back(outer(note));
  return out;
}

bool Liveness::is_live(Address object) const { return state_->inside().live().objects.test(object.value()); }

std::vector<LiveStage> Liveness::stages() const {
  std::vector<LiveStage> out;
  for (const dnheap::LiveStage &stage : state_->inside().live().stages)
    out.push_back({stage.name, stage.objects, stage.bytes, stage.aligned_bytes, stage.is_conservative});
  return out;
}

std::uint64_t Liveness::bad_references() const { return state_->inside().live().bad_references(); }

} // namespace dnheap::v0
