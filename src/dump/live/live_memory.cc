#include "dump/live/live_memory.h"

#include "base/error.h"
#include "base/parallel.h"

#include <algorithm>
#include <cstring>

namespace dnheap {

namespace {

constexpr u64 neighbourhood = 64 << 10; // fetched at a time, at least
constexpr u64 longest_run = 256 << 10;  // copied at a time: stays in the processor's cache
constexpr u64 huge_page = 2 << 20;
constexpr u64 largest_block = 32 << 20; // copied between two progress updates
constexpr u64 stripe = 4 << 20; // threads take turns within a stripe, and one fetch never goes beyond its stripe
// A mapping larger than any memory is reserved address space; files cannot be that long.
constexpr u64 longest_stretch = u64{4} << 40;
constexpr const char *what = "the copy of the process";

} // namespace

LiveMemory::LiveMemory(u64 pid, const std::vector<Stretch> &stretches, const std::string &temp_dir)
    : process_(pid), files_(pid), page_size_(page_size()), in_memory_(temp_dir.empty()),
      file_(temp_dir.empty() ? TemporaryFile::in_memory(what) : TemporaryFile(temp_dir, what)) {
  u64 place = 0;
  for (const Stretch &stretch : stretches) {
    if (stretch.end - stretch.start > longest_stretch)
      continue;
    stretches_.push_back(stretch);
    if (pieces_.empty() || pieces_.back().end != stretch.start) {
      place = align_up(place, std::max(neighbourhood, page_size_));
      pieces_.push_back({stretch.start, stretch.start, place});
    }
    place += stretch.end - stretch.start;
    pieces_.back().end = stretch.end;
  }
  file_.resize(place);
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
    if (state(page) == State::unknown || state(page) == State::in_file) {
      if (!piece && !(piece = piece_at(*place)))
        return 0;
      fetch_pages(*piece, page, last, false);
    }
    if (state(page) != State::here)
      return std::max(page * page_size_, *place) - *place;
  }
  return bytes.size();
}

// Fetches missing pages from `first` up to `last`, at least the neighbourhood, and at most to the end of the stripe.
void LiveMemory::fetch_pages(const Piece &piece, u64 first, u64 last, bool files_later) {
  const u64 stripe_pages = stripe / page_size_;
  std::lock_guard lock(fetching_[first / stripe_pages % fetching_.size()]);
  const u64 around = std::max(neighbourhood / page_size_, u64{1});
  const u64 piece_first = piece.place / page_size_, piece_end = (piece.place + (piece.end - piece.start)) / page_size_;
  u64 at = std::max(first / around * around, piece_first);
  const u64 until = std::min({align_up(last + 1, around), piece_end, (first / stripe_pages + 1) * stripe_pages});
  auto address_of = [&](u64 page) { return piece.start + (page * page_size_ - piece.place); };
  auto stretch = std::partition_point(stretches_.begin(), stretches_.end(),
                                      [&](const Stretch &s) { return s.end <= address_of(at); });
  std::vector<ProcessMemory::Page> pages(until - at);
  if (!frozen_)
    process_.find_pages(address_of(at), pages);
  for (std::span<const ProcessMemory::Page> rest = pages; !rest.empty() && stretch != stretches_.end(); ++stretch) {
    const u64 stretch_end = std::min(until, at + (stretch->end - address_of(at)) / page_size_);
    while (at < stretch_end) {
      const u64 done = fetch_run(*stretch, address_of(at), at, rest.first(stretch_end - at), files_later);
      at += done;
      rest = rest.subspan(done);
    }
  }
}

// Fetches the first pages of one stretch, as many as have the same source; returns how many.
u64 LiveMemory::fetch_run(const Stretch &stretch, Address address, u64 first,
                          std::span<const ProcessMemory::Page> pages, bool files_later) {
  using Page = ProcessMemory::Page;
  const State before = state(first);
  const Page kind = before == State::in_file ? Page::of_file : pages[0];
  const u64 most = std::min<u64>(pages.size(), longest_run / page_size_);
  u64 run = 1;
  while (run < most && state(first + run) == before && (before != State::unknown || pages[run] == kind))
    ++run;
  const bool from_file = kind != Page::present && !stretch.file.path.empty();
  if (before == State::here || before == State::unreadable || (before == State::unknown && frozen_))
    return run;
  if (from_file && files_later) {
    set(first, run, State::in_file);
    return run;
  }
  if (kind == Page::absent && stretch.is_anonymous) {
    set(first, run, State::here); // our file has zeros there, too, as nothing was written to it
    return run;
  }
  std::vector<std::byte> buffer(run * page_size_);
  u64 size = from_file ? files_.read(stretch.file, stretch.file_offset + (address - stretch.start), buffer) : 0;
  if (size > 0)
    size = align_up(size, page_size_); // a file's last page continues with zeros
  else if (before == State::unknown)
    size = process_.read(address, buffer) / page_size_ * page_size_;
  if (process_.has_ended())
    freeze(); // so that no further page is asked for in vain
  file_.write_at(first * page_size_, std::span(buffer).first(size));
  kept_ += size;
  const u64 done = size / page_size_;
  set(first, done, State::here);
  if (done < run)
    set(first + done, 1, State::unreadable);
  return std::min(done + 1, run);
}

std::vector<std::pair<Address, Address>> LiveMemory::fetched() const {
  std::vector<std::pair<Address, Address>> out;
  for (const Piece &piece : pieces_)
    for (Address at = piece.start; at < piece.end; at += page_size_)
      if (state((piece.place + (at - piece.start)) / page_size_) == State::here) {
        if (!out.empty() && out.back().second == at)
          out.back().second += page_size_;
        else
          out.emplace_back(at, at + page_size_);
      }
  return out;
}

void LiveMemory::set(u64 first, u64 count, State state) {
  for (u64 page = first; page < first + count; ++page)
    pages_[page].store(static_cast<u8>(state), std::memory_order_release);
}

// Returns private memory in whole huge pages by host address: most of a heap. Partial pages at both ends of a stretch
// are left to fetch_pages().
std::vector<LiveMemory::Block> LiveMemory::whole_blocks() const {
  std::vector<Block> out;
  const Piece *piece = pieces_.data();
  for (const Stretch &stretch : stretches_) {
    while (piece->end <= stretch.start)
      ++piece;
    if (!stretch.is_anonymous)
      continue;
    const u64 place = piece->place + (stretch.start - piece->start);
    const u64 begin = reinterpret_cast<u64>(mapped_->bytes().data()) + place,
              end = begin + (stretch.end - stretch.start);
    for (u64 at = align_up(begin, huge_page); at + huge_page <= end;) {
      const u64 size = std::min(largest_block, (end - at) / huge_page * huge_page);
      out.push_back(
          {stretch.start + (at - begin), stretch.start + (at - begin) + size, (place + (at - begin)) / page_size_});
      at += size;
    }
  }
  return out;
}

// Copies the huge pages that the process has mostly touched. Skips those with fetched pages, since pointers to these
// must stay valid. Returns how many bytes were handled.
u64 LiveMemory::copy_block(const Block &block) {
  using Page = ProcessMemory::Page;
  const u64 count = (block.end - block.start) / page_size_, step = huge_page / page_size_;
  std::vector<Page> pages(count);
  process_.find_pages(block.start, pages);
  auto is_worth_it = [&](u64 at) {
    u64 present = 0;
    for (u64 page = at; page < at + step; ++page) {
      if (state(block.first + page) != State::unknown)
        return false;
      present += pages[page] == Page::present;
    }
    return present > step / 2;
  };
  u64 copied = 0;
  for (u64 at = 0; at < count && !process_.has_ended(); at += step) {
    const u64 from = at;
    while (at < count && is_worth_it(at))
      at += step;
    if (at == from)
      continue;
    const Bytes place = mapped_->bytes().subspan((block.first + from) * page_size_, (at - from) * page_size_);
    const std::span<std::byte> to = mapped_->replace_by_memory(place);
    if (to.empty())
      break; // fetch_pages() copies the rest
    copy_pages(block.start + from * page_size_, block.first + from, std::span(pages).subspan(from, at - from), to);
    mapped_->protect(place);
    copied += place.size();
  }
  return copied;
}

void LiveMemory::copy_pages(Address start, u64 first, std::span<const ProcessMemory::Page> pages,
                            std::span<std::byte> to) {
  using Page = ProcessMemory::Page;
  for (u64 at = 0; at < pages.size();) {
    u64 end = at + 1;
    while (end < pages.size() && (pages[end] == Page::absent) == (pages[at] == Page::absent))
      ++end;
    u64 done = end;
    if (pages[at] != Page::absent) {
      const std::span<std::byte> part = to.subspan(at * page_size_, (end - at) * page_size_);
      done = at + process_.read(start + at * page_size_, part) / page_size_;
      kept_ += (done - at) * page_size_;
    }
    set(first + at, done - at, State::here);
    if (done < end)
      set(first + done++, 1, State::unreadable);
    at = done;
  }
}

void LiveMemory::fetch_all(unsigned threads, const Watch &watch) {
  Timer timer(watch, "copy", size());
  auto tell = [&](u64 bytes) {
    if (watch.progress)
      watch.progress->done += bytes;
  };
  if (in_memory_) {
    const std::vector<Block> blocks = whole_blocks();
    parallel_for(blocks.size(), threads, [&](u64 i, unsigned) {
      watch.check();
      tell(copy_block(blocks[i]));
    });
  }
  struct Part {
    const Piece *piece;
    u64 first, last; // pages
  };
  std::vector<Part> parts;
  const u64 stripe_pages = stripe / page_size_;
  for (const Piece &piece : pieces_)
    for (u64 at = piece.place / page_size_, end = at + (piece.end - piece.start) / page_size_; at < end;) {
      const u64 next = std::min(end, (at / stripe_pages + 1) * stripe_pages);
      parts.push_back({&piece, at, next - 1});
      at = next;
    }
  parallel_for(parts.size(), threads, [&](u64 i, unsigned) {
    watch.check();
    const auto [piece, first, last] = parts[i];
    u64 missing = 0;
    for (u64 page = first; page <= last; ++page)
      missing += state(page) == State::unknown;
    if (missing > 0)
      fetch_pages(*piece, first, last, true);
    tell(missing * page_size_);
  });
  if (in_memory_ && !copied_)
    copied_.emplace(kept_);
}

u64 LiveMemory::copy(Bytes bytes, std::byte *out) {
  std::optional<u64> place = place_of(bytes);
  if (!place || is_here(bytes) || frozen_) {
    u64 size = fetch(bytes);
    std::memcpy(out, bytes.data(), size);
    return size;
  }
  const Piece *piece = piece_at(*place);
  return piece && !process_.has_ended() ? read(piece->start + (*place - piece->place), {out, bytes.size()}) : 0;
}

// Reads until something cannot be read. Skips anonymous pages that the process has not touched: reading would make the
// kernel give it zero pages, which would then count as touched.
u64 LiveMemory::read(Address address, std::span<std::byte> out) const {
  const u64 first = address / page_size_, size = out.size();
  std::vector<ProcessMemory::Page> pages((address + size - 1) / page_size_ - first + 1);
  process_.find_pages(first * page_size_, pages);
  auto stretch =
      std::partition_point(stretches_.begin(), stretches_.end(), [&](const Stretch &s) { return s.end <= address; });
  auto is_untouched = [&](u64 page) {
    while (stretch != stretches_.end() && stretch->end <= (first + page) * page_size_)
      ++stretch;
    return pages[page] == ProcessMemory::Page::absent && stretch != stretches_.end() && stretch->is_anonymous;
  };
  u64 done = 0;
  for (u64 page = 0; page < pages.size();) {
    const bool untouched = is_untouched(page);
    for (++page; page < pages.size() && is_untouched(page) == untouched;)
      ++page;
    const u64 end = std::min(size, (first + page) * page_size_ - address);
    const std::span<std::byte> part = out.subspan(done, end - done);
    if (untouched)
      std::fill(part.begin(), part.end(), std::byte{0});
    const u64 read = untouched ? part.size() : process_.read(address + done, part);
    done += read;
    if (read < part.size())
      break;
  }
  return done;
}

} // namespace dnheap
