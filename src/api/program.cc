#include "dnheap/program.h"

#include "api/state.h"
#include "base/host/host.h"
#include "base/host/mapping_faults.h"
#include "base/host/memory_limit.h"
#include "base/process/process.h"

namespace dnheap::v0 {

namespace {

std::atomic<dnheap::Progress *> interrupted{nullptr};
static_assert(std::atomic<dnheap::Progress *>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  if (dnheap::Progress *progress = interrupted.load())
    progress->cancel.store(true);
}

} // namespace

void survive_mapping_faults() { dnheap::survive_mapping_faults(); }
void make_streams_safe() { dnheap::make_streams_safe(); }

void cancel_on_interrupt(Progress &progress) {
  interrupted = State::watch(&progress).progress;
  catch_interrupts(on_interrupt);
}

struct WholeFile::State {
  NewFile file;
};
WholeFile::WholeFile(const std::string &path, bool is_private) : state_(new State{NewFile(path)}) {
  if (!is_private)
    state_->file.open_to_others();
}
WholeFile::~WholeFile() = default;
const std::string &WholeFile::path_for_now() const { return state_->file.path_for_now(); }
void WholeFile::commit() {
  state_->file.take_size();
  state_->file.commit();
}

bool limit_memory(std::uint64_t bytes) { return dnheap::limit_memory(bytes); }
bool limit_memory_to_group(unsigned threads) {
  return dnheap::limit_memory_to_group(threads ? threads : processor_count());
}
bool be_first_to_go() { return dnheap::be_first_to_go(); }
bool is_terminal(int descriptor) { return dnheap::is_terminal(descriptor); }
unsigned terminal_width(int descriptor) { return dnheap::terminal_width(descriptor); }

} // namespace dnheap::v0
