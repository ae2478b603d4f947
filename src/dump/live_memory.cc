#include "dump/live_memory.h"

#include "base/error.h"
#include "base/parallel.h"

#include <algorithm>
#include <cstring>

namespace dnheap {

namespace {

constexpr u64 neighbourhood = 64 << 10; // what is fetched at a time, at least
constexpr u64 stripe = 4 << 20;         // no two threads fetch in the same one, nor more at once
// A mapping that is larger than any memory is address space that somebody reserved; files cannot be that long.
constexpr u64 longest_stretch = u64{4} << 40;
constexpr const char *what = "what was read of the process";

TemporaryFile file_for(const std::string &folder) {
  if (!folder.empty())
    return TemporaryFile(folder, what);
  try {
    return TemporaryFile(folder, what);
  } catch (const Error &) {
    return TemporaryFile::in_memory(what); // a container whose file system cannot be written to
  }
}

} // namespace

LiveMemory::LiveMemory(u64 pid, const std::vector<Stretch> &stretches, const std::string &temp_dir)
    : process_(pid), page_size_(page_size()), file_(file_for(temp_dir)) {
  u64 place = 0;
  for (const Stretch &stretch : stretches) {
    if (stretch.end - stretch.start > longest_stretch)
      continue;
    if (pieces_.empty() || pieces_.back().end != stretch.start) {
      place = align_up(place, std::max(neighbourhood, page_size_));
      pieces_.push_back({stretch.start, stretch.start, place});
    }
    place += stretch.end - stretch.start;
    pieces_.back().end = stretch.end;
  }
  file_.grow(place);
  mapped_ = file_.map();
  pages_ = std::make_unique<std::atomic<u8>[]>(place / page_size_);
}

std::vector<Range> LiveMemory::ranges() const {
  std::vector<Range> out;
  for (const Piece &piece : pieces_)
    out.push_back({piece.start, mapped_->bytes().subspan(piece.place, piece.end - piece.start)});
  return out;
}

std::optional<u64> LiveMemory::place_of(Bytes bytes) const {
  const std::byte *begin = mapped_->bytes().data(), *end = begin + mapped_->bytes().size();
  if (std::less<>()(bytes.data(), begin) || !std::less<>()(bytes.data(), end))
    return std::nullopt;
  return static_cast<u64>(bytes.data() - begin);
}

const LiveMemory::Piece *LiveMemory::piece_at(u64 place) const {
  auto it = std::partition_point(pieces_.begin(), pieces_.end(),
                                 [&](const Piece &p) { return p.place + (p.end - p.start) <= place; });
  return it == pieces_.end() || place < it->place ? nullptr : &*it;
}

bool LiveMemory::is_here(Bytes bytes) const {
  std::optional<u64> place = place_of(bytes);
  if (!place || bytes.empty())
    return true;
  for (u64 page = *place / page_size_; page <= (*place + bytes.size() - 1) / page_size_; ++page)
    if (state(page) != State::here)
      return false;
  return true;
}

u64 LiveMemory::fetch(Bytes bytes) {
  std::optional<u64> place = place_of(bytes);
  if (!place || bytes.empty())
    return bytes.size();
  const u64 end = *place + bytes.size(), last = (end - 1) / page_size_;
  const Piece *piece = nullptr;
  for (u64 page = *place / page_size_; page <= last; ++page) {
    if (state(page) == State::unknown) {
      if (!piece && !(piece = piece_at(*place)))
        return 0;
      fetch_pages(*piece, page, last);
    }
    if (state(page) != State::here)
      return std::max(page * page_size_, *place) - *place;
  }
  return bytes.size();
}

// Unknown pages from `first` on: up to `last`, and the neighbourhood in any case.
void LiveMemory::fetch_pages(const Piece &piece, u64 first, u64 last) {
  const u64 stripe_pages = stripe / page_size_;
  std::lock_guard lock(fetching_[first / stripe_pages % fetching_.size()]);
  if (frozen_)
    return;
  const u64 around = std::max(neighbourhood / page_size_, u64{1});
  const u64 piece_first = piece.place / page_size_, piece_end = (piece.place + (piece.end - piece.start)) / page_size_;
  u64 at = std::max(first / around * around, piece_first);
  u64 until = std::min({align_up(last + 1, around), piece_end, (first / stripe_pages + 1) * stripe_pages});
  std::vector<std::byte> buffer;
  while (at < until) {
    if (state(at) != State::unknown) {
      ++at;
      continue;
    }
    u64 run = 1;
    while (at + run < until && state(at + run) == State::unknown)
      ++run;
    buffer.resize(run * page_size_);
    Address address = piece.start + (at * page_size_ - piece.place);
    u64 pages = process_.read(address, buffer) / page_size_;
    file_.write_at(at * page_size_, std::span(buffer).first(pages * page_size_));
    for (u64 i = 0; i < pages; ++i)
      pages_[at + i].store(static_cast<u8>(State::here), std::memory_order_release);
    kept_ += pages * page_size_;
    at += pages;
    if (pages < run)
      pages_[at++].store(static_cast<u8>(State::unreadable), std::memory_order_release);
  }
}

void LiveMemory::fetch_all(unsigned threads, const Watch &watch) {
  Timer timer(watch, "copy", size());
  std::vector<Bytes> blocks;
  for (const Range &range : ranges())
    for (u64 at = 0; at < range.bytes.size(); at += stripe)
      blocks.push_back(range.bytes.subspan(at, std::min<u64>(stripe, range.bytes.size() - at)));
  parallel_for(blocks.size(), threads, [&](u64 i, unsigned) {
    watch.check();
    for (Bytes rest = blocks[i]; !rest.empty();) { // behind a page that cannot be read there may be others
      u64 done = fetch(rest);
      rest = rest.subspan(std::min<u64>(done + page_size_, rest.size()));
    }
    if (watch.progress)
      watch.progress->done += blocks[i].size();
  });
}

u64 LiveMemory::copy(Bytes bytes, std::byte *out) {
  std::optional<u64> place = place_of(bytes);
  if (!place || is_here(bytes) || frozen_) {
    u64 size = fetch(bytes);
    std::memcpy(out, bytes.data(), size);
    return size;
  }
  const Piece *piece = piece_at(*place);
  return piece ? process_.read(piece->start + (*place - piece->place), {out, bytes.size()}) : 0;
}

} // namespace dnheap
