// LiveMemory: the memory of a running process as Ranges. Each range has its place in a temporary file that is mapped
// here; a page is copied there when it is first asked for, together with its neighbours. Memory read through copy() is
// not kept, so that a heap of any size can be walked in little memory. When all memory is copied and the temporary file
// is one in memory, our own memory replaces those parts of it that the process has mostly touched. Never writes to the
// process, and never reads pages that the process has not touched: these are zero, or equal the mapped file, which is
// read instead.
#pragma once
#include "base/host/host.h"
#include "base/host/memory_limit.h"
#include "base/process/process.h"
#include "base/watch.h"
#include "target/memory.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace dnheap {

class LiveMemory : public BytesOnDemand {
public:
  struct Stretch {
    Address start = 0, end = 0; // whole pages
    MappedPath file = {};       // path empty: no readable file
    u64 file_offset = 0;
    bool is_anonymous = false; // pages not touched are zero
  };
  // `stretches`: sorted, may touch, never overlap. Copies nothing yet. The temporary file is one in memory unless a
  // folder is given. Throws Error if there is no room for it.
  LiveMemory(u64 pid, const std::vector<Stretch> &stretches, const std::string &temp_dir);

  std::vector<Range> ranges() const; // adjacent stretches are joined

  u64 fetch(Bytes bytes) override;
  bool is_here(Bytes bytes) const override;
  u64 copy(Bytes bytes, std::byte *out) override;
  // Fetches all of the memory, in parallel; pages equal to a file's are only marked. Throws Interrupted.
  void fetch_all(unsigned threads, const Watch &watch);
  // Returns what has been fetched so far, by address.
  std::vector<std::pair<Address, Address>> fetched() const;
  u64 size() const { return mapped_->bytes().size(); }
  // From now on only fetched memory is available, since the process runs again.
  void freeze() { frozen_ = true; }
  // True if the process ended before everything asked for was read.
  bool process_has_ended() const { return process_.has_ended(); }
  u64 kept() const { return kept_; } // bytes fetched

private:
  enum class State : u8 { unknown, here, unreadable, in_file };
  struct Piece {
    Address start = 0, end = 0;
    u64 place = 0; // in the file
  };

  // Returns the place in the file; nullopt if the bytes are not in it.
  std::optional<u64> place_of(Bytes bytes) const;
  struct Block {
    Address start = 0, end = 0; // of the process
    u64 first = 0;              // page number in the file
  };
  std::vector<Block> whole_blocks() const;
  u64 copy_block(const Block &block);
  u64 read(Address address, std::span<std::byte> out) const;
  void copy_pages(Address start, u64 first, std::span<const ProcessMemory::Page> pages, std::span<std::byte> to);
  void fetch_pages(const Piece &piece, u64 first, u64 last, bool files_later);
  u64 fetch_run(const Stretch &stretch, Address address, u64 first, std::span<const ProcessMemory::Page> pages,
                bool files_later);
  void set(u64 first, u64 count, State state);
  const Piece *piece_at(u64 place) const;
  State state(u64 page) const { return State{pages_[page].load(std::memory_order_acquire)}; }

  ProcessMemory process_;
  ProcessFiles files_;
  const u64 page_size_;
  const bool in_memory_;           // the temporary file is in memory
  std::vector<Stretch> stretches_; // by address
  std::vector<Piece> pieces_;      // adjacent stretches joined; sorted by address and by place
  TemporaryFile file_;
  std::shared_ptr<const MappedFile> mapped_;
  std::unique_ptr<std::atomic<u8>[]> pages_; // of the file
  std::array<std::mutex, 64> fetching_;      // by stripe of the file
  std::atomic<bool> frozen_{false};
  std::atomic<u64> kept_{0};
  std::optional<UncountedMemory> copied_; // set by fetch_all()
};

} // namespace dnheap
