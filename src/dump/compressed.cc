#include "dump/compressed.h"

#include "base/host/control_group.h"
#include "base/host/mapping_faults.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dump/decoders/gzip.h"
#include "dump/decoders/lz4.h"
#include "dump/decoders/xz.h"
#include "dump/decoders/zstd.h"
#include "dump/zstd_frames.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <utility>
#include <zstd.h>

namespace dnheap {

namespace {

constexpr u64 step = 4 << 20;           // bytes of input or output between two Progress updates
constexpr u64 smallest_step = 64 << 10; // for files smaller than `step`
constexpr u64 most_windows = u64{1} << ZstdDecoder::largest_window; // bytes, for all threads together
constexpr u64 reach = u64{256} << 20; // bytes of the compressed file searched for frames at a time
constexpr u64 small = 32 << 20;       // bytes, compressed or not: always goes into memory
constexpr u64 share_of_memory = 4;    // contents may take one quarter of the free memory
constexpr u64 first_bytes = 1 << 20;  // so many are decompressed first, to find the dump's own headers
constexpr u64 least_slack = 64 << 20; // extra bytes accepted after the length from the headers

enum class Compression : u8 { none, zstd, gzip, xz, lz4 };

// Frames to be skipped are the same in zstd and lz4: the first other one decides, and zstd if there is none.
Compression compression_of(Bytes file) {
  constexpr int most_skipped = 16;
  constexpr u32 skippable = 0x184d2a50; // the lowest 4 bits may have any value
  if (XzDecoder::begins(file))
    return Compression::xz;
  if (GzipDecoder::starts(file))
    return Compression::gzip;
  if (!ZstdDecoder::starts(file))
    return Lz4Decoder::starts(file) ? Compression::lz4 : Compression::none;
  Bytes rest = file;
  for (int i = 0; i < most_skipped; ++i) {
    const std::optional<u32> magic = load_at<u32>(rest, 0, ByteOrder::little);
    const std::optional<u32> size = load_at<u32>(rest, 4, ByteOrder::little);
    if (!magic || !size || (*magic & ~u32{15}) != skippable)
      break;
    rest = rest.subspan(std::min<u64>(rest.size(), u64{8} + *size));
  }
  return !ZstdDecoder::starts(rest) && Lz4Decoder::starts(rest) ? Compression::lz4 : Compression::zstd;
}

// Calls use() with the decoder of the file as its template argument.
template <class Use> auto with_decoder(Bytes file, Use use) {
  switch (compression_of(file)) {
  case Compression::gzip: return use.template operator()<GzipDecoder>();
  case Compression::xz: return use.template operator()<XzDecoder>();
  case Compression::lz4: return use.template operator()<Lz4Decoder>();
  default: return use.template operator()<ZstdDecoder>();
  }
}

// The offset where a mapped file becomes unreadable, and why.
struct Loss {
  u64 offset = 0;
  std::string reason;
};

std::optional<Loss> first_loss(Bytes file) {
  for (const LostBytes &lost : find_lost_bytes()) {
    if (lost.bytes.data() < file.data() || lost.bytes.data() >= file.data() + file.size())
      continue;
    if (lost.changed)
      throw Error(lost.reason + "; open it again once nothing writes to it");
    return Loss{static_cast<u64>(lost.bytes.data() - file.data()), lost.reason};
  }
  return std::nullopt;
}

// The decompressed contents of consecutive frames or members.
template <class Decoder> class Decompression {
public:
  // Begins at `from`, where a frame starts; returns at most `most` bytes.
  Decompression(Bytes file, u64 from, u64 most, unsigned threads)
      : decoder_(threads), file_(file), rest_(file.subspan(from)), left_(most), ended_(from > 0) {}

  // Returns the next bytes, as many as fit; fewer at the end.
  u64 fill(std::span<std::byte> buffer, const Watch &watch) {
    u64 filled = 0;
    while (!is_over_ && filled < buffer.size())
      filled += step(buffer.subspan(filled), watch);
    return filled;
  }
  bool is_over() const { return is_over_; }

  // Returns the result after everything, `size` bytes, has been written; its file is not set yet.
  Decompressed result(u64 size) const {
    if (problem_.empty())
      return {nullptr, doubt_ + (doubt_.empty() || after_.empty() ? "" : "; ") + after_, damaged_};
    if (size == 0)
      throw Error(fmt::format("its {} data {}, and nothing could be decompressed", Decoder::name, problem_));
    return {nullptr,
            fmt::format("the {} data {}; this is the part before that, {}{}", Decoder::name, problem_, bytes_text(size),
                        damaged_ ? ", which may be wrong in places" : ""),
            damaged_};
  }

private:
  u64 step(std::span<std::byte> buffer, const Watch &watch) {
    watch.check();
    const u64 at = file_.size() - rest_.size();
    if (watch.progress)
      watch.progress->done = at;
    // Zeros after the last frame are padding (of tapes, of devices). Anything else is worth a note.
    const bool is_padding = ended_ && !Decoder::starts(rest_);
    is_over_ = (ended_ && rest_.empty()) || (is_padding && !first_loss(file_));
    if (is_over_) {
      if (std::any_of(rest_.begin(), rest_.end(), [](std::byte b) { return b != std::byte{0}; }))
        after_ = fmt::format("{} after the {} data were ignored", bytes_text(rest_.size()), Decoder::name);
      return 0;
    }
    if (left_ == 0) {
      is_over_ = true;
      after_ = fmt::format("the {} data continue far beyond the length in the dump's own headers: the rest was ignored",
                           Decoder::name);
      return 0;
    }
    const DecoderStep done = decoder_.run(rest_, buffer.first(std::min<u64>(buffer.size(), left_)));
    if (u64 now = count_losses(); now != losses_) {
      loss_ = first_loss(file_);
      losses_ = now;
    }
    const bool lost = loss_ && (loss_->offset < file_.size() - rest_.size() || !done.error.empty());
    ended_ = done.ended;
    if (lost)
      problem_ = "could not be read to their end: " + loss_->reason;
    else if (!done.error.empty() && done.ended)
      doubt_ = fmt::format(
          "a checksum before byte {} of {} does not match the {} data: any of the decompressed bytes may be wrong",
          file_.size() - rest_.size(), file_.size(), Decoder::name);
    else if (!done.error.empty())
      problem_ = fmt::format("are damaged at or before byte {} of {} ({})", file_.size() - rest_.size(), file_.size(),
                             done.error);
    else if (!ended_ && !done.repeats && rest_.empty() && done.written < std::min<u64>(buffer.size(), left_))
      problem_ = fmt::format("are cut off: the file ends at byte {}", file_.size());
    is_over_ = !problem_.empty();
    damaged_ |= !lost && !done.error.empty();
    left_ -= lost ? 0 : done.written;
    // If lost, these bytes may come from unreadable parts of the file, so they do not count.
    return lost ? 0 : done.written;
  }

  Decoder decoder_;
  Bytes file_, rest_;
  u64 left_;
  bool ended_; // at the end of a frame, before the next one
  bool is_over_ = false, damaged_ = false;
  std::string problem_, doubt_, after_;
  u64 losses_ = 0;
  std::optional<Loss> loss_;
};

// Memory with the interface of TemporaryFile.
class Room {
public:
  struct IsFull {};
  explicit Room(std::span<std::byte> all) : all_(all) {}
  u64 size() const { return size_; }
  void write(Bytes bytes) {
    write_at(size_, bytes);
    size_ += bytes.size();
  }
  void write_at(u64 offset, Bytes bytes) const {
    if (offset > all_.size() || bytes.size() > all_.size() - offset)
      throw IsFull();
    if (!bytes.empty())
      std::memcpy(all_.data() + offset, bytes.data(), bytes.size());
  }
  void resize(u64 size) {
    if (size > all_.size())
      throw IsFull();
    size_ = size;
  }

private:
  std::span<std::byte> all_;
  u64 size_ = 0;
};

// Fills one buffer while the other is written. Buffers start at the file's size, since fresh memory may cost more than
// a small file's decompression, and grow, since many small steps would each start a thread.
template <class Decoder, class Out>
Decompressed decompress_from(Bytes file, u64 from, u64 most, Out &out, unsigned threads, const Watch &watch) {
  Decompression<Decoder> decompression(file, from, most - out.size(), threads);
  std::vector<std::byte> next(std::clamp(file.size(), smallest_step, step)), last;
  u64 filled = 0, to_write = 0;
  do {
    parallel_for(2, threads, [&](u64 i, unsigned) {
      if (i == 0)
        filled = decompression.fill(next, watch);
      else
        out.write(Bytes(last).first(to_write));
    });
    std::swap(next, last);
    to_write = std::exchange(filled, 0);
    next.resize(std::min(to_write == last.size() ? 2 * last.size() : last.size(), step));
  } while (to_write > 0);
  return decompression.result(out.size());
}

// The output offsets of several frames. Frames that do not state their size report it when decompressed, in any order.
class Places {
public:
  // Frames that would end after `most` have no place.
  Places(const std::vector<ZstdFrame> &frames, u64 first, u64 most) : known_{first}, most_(most) {
    for (const ZstdFrame &frame : frames)
      sizes_.push_back(frame.content);
    go_on();
  }
  void set_size(u64 frame, u64 size) {
    const std::lock_guard lock(mutex_);
    sizes_[frame] = size;
    go_on();
  }
  // Frames after this one have no place.
  void stop_at(u64 frame) {
    const std::lock_guard lock(mutex_);
    sound_ = std::min(sound_, frame);
    changed_.notify_all();
  }
  bool is_behind_stop(u64 frame) {
    const std::lock_guard lock(mutex_);
    return frame > sound_;
  }
  // Waits for the sizes of all earlier frames. Nullopt: an earlier frame is invalid, or this one would end beyond
  // `most`. The wait ends, as earlier frames are done or are being decompressed by other threads.
  std::optional<u64> place(u64 frame) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return frame < known_.size() || frame > sound_; });
    return frame < known_.size() && frame < sound_ ? std::optional(known_[frame]) : std::nullopt;
  }
  // To be called when all threads are done: returns how many frames are valid.
  u64 sound() const { return std::min(sound_, sizes_.size()); }
  u64 end(u64 count) const { return known_[count]; }

private:
  void go_on() {
    while (known_.size() <= sizes_.size() && sizes_[known_.size() - 1]) {
      const u64 end = add_clamped(known_.back(), *sizes_[known_.size() - 1]);
      if (end > most_) {
        sound_ = std::min(sound_, known_.size() - 1);
        break;
      }
      known_.push_back(end);
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<u64>> sizes_;
  std::vector<u64> known_; // offsets, as far as known
  u64 most_;
  u64 sound_ = ~u64{0}; // the first invalid frame
};

// Each thread has its own.
struct FrameDecoder {
  ZstdDecoder decoder;
  std::vector<std::byte> buffer;

  // Decompresses to the frame's place: directly if its size is stated, else through the buffer. Returns false if the
  // frame is invalid or stopped.
  template <class Out>
  bool decompress(const ZstdFrame &frame, u64 number, Places &places, const Out &out, const Watch &watch) {
    if (frame.most == 0)
      return true; // the frame is empty
    if (frame.content) {
      const std::optional<u64> place = places.place(number);
      return place && decode(frame.bytes, *frame.content, false, watch,
                             [&](u64 at, Bytes part) { out.write_at(*place + at, part); }) == frame.content;
    }
    const std::optional<u64> size = decode(frame.bytes, frame.most, true, watch, [](u64, Bytes) {});
    if (!size)
      return false;
    places.set_size(number, *size);
    const std::optional<u64> place = places.place(number);
    if (place)
      out.write_at(*place, Bytes(buffer).first(*size));
    return place.has_value();
  }

private:
  // Calls take(offset, bytes) for each step's output; with `keeps` it also stays in the buffer. Returns the size;
  // nullopt if the frame is invalid, or larger than `most`.
  template <class Take> std::optional<u64> decode(Bytes rest, u64 most, bool keeps, const Watch &watch, Take take) {
    buffer.resize(std::max<u64>(keeps ? most : 0, ZSTD_DStreamOutSize()));
    for (u64 size = 0;;) {
      watch.check();
      const std::span<std::byte> room = std::span(buffer).subspan(keeps ? size : 0);
      const DecoderStep done = decoder.run(rest, room);
      if (!done.error.empty() || done.written > most - size)
        return std::nullopt;
      take(size, Bytes(room).first(done.written));
      size += done.written;
      if (done.ended)
        return rest.empty() ? std::optional(size) : std::nullopt;
      if (rest.empty() && done.written < room.size())
        return std::nullopt;
    }
  }
};

// Decompresses frames in parallel, as far as they are valid and memory allows. Returns how many bytes of the file these
// frames take. decompress_from() handles the rest and reports errors in it.
template <class Out> u64 decompress_frames(Bytes file, u64 most_out, Out &out, unsigned threads, const Watch &watch) {
  u64 done = 0;
  for (;;) {
    const std::vector<ZstdFrame> frames = find_zstd_frames(file.subspan(done), reach);
    if (frames.size() < 2)
      return done;
    u64 most = 0; // bytes that a thread needs
    for (const ZstdFrame &frame : frames)
      most = std::max(most, frame.window + (frame.content ? 0 : frame.most));
    if (most > most_windows)
      return done;
    Places places(frames, out.size(), most_out);
    const unsigned workers = static_cast<unsigned>(std::min<u64>(threads, most_windows / std::max(most, u64{1})));
    std::vector<std::unique_ptr<FrameDecoder>> decoders(workers);
    parallel_for(frames.size(), workers, [&](u64 i, unsigned worker) {
      if (!decoders[worker])
        decoders[worker] = std::make_unique<FrameDecoder>();
      try {
        if (places.is_behind_stop(i))
          return;
        if (!decoders[worker]->decompress(frames[i], i, places, out, watch)) {
          decoders[worker]->decoder = ZstdDecoder();
          places.stop_at(i);
        } else if (watch.progress) {
          watch.progress->done += frames[i].bytes.size();
        }
      } catch (...) {
        places.stop_at(i);
        throw;
      }
    });
    const std::optional<Loss> loss = first_loss(file);
    u64 good = 0;
    for (; good < places.sound() && (!loss || done + frames[good].bytes.size() <= loss->offset); ++good)
      done += frames[good].bytes.size();
    out.resize(places.end(good));
    if (good < frames.size())
      return done;
  }
}

template <class Out>
Decompressed decompress_to(Bytes file, u64 most_out, Out &out, unsigned threads, const Watch &watch) {
  const u64 from =
      compression_of(file) == Compression::zstd ? decompress_frames(file, most_out, out, threads, watch) : 0;
  return with_decoder(
      file, [&]<class Decoder>() { return decompress_from<Decoder>(file, from, most_out, out, threads, watch); });
}

// Returns the largest output to accept.
template <class Decoder> u64 most_of(Bytes file, const DecompressionLimits &limits) {
  std::vector<std::byte> first(first_bytes);
  first.resize(Decompression<Decoder>(file, 0, first.size(), 1).fill(first, {}));
  const u64 length = limits.length_of(first);
  return length == 0 ? first_bytes : add_clamped(length, std::max(length / 4, least_slack));
}

template <class Decoder> std::vector<std::byte> first_of(Bytes file, u64 most) {
  std::vector<std::byte> out(most);
  out.resize(Decompression<Decoder>(file, 0, most, 1).fill(out, {}));
  return out;
}

// Decompresses into free memory. This avoids disk writes, and memory has huge pages, which a file does not. Nullopt if
// the contents are too large.
std::optional<Decompressed> decompress_in_memory(Bytes file, u64 most, u64 most_out, unsigned threads,
                                                 const Watch &watch) {
  if (file.size() > most)
    return std::nullopt;
  std::optional<Decompressed> out;
  const u64 done_before = watch.progress ? watch.progress->done.load() : 0;
  std::shared_ptr<const MappedFile> memory = MappedFile::try_in_memory(most, [&](std::span<std::byte> to) {
    Room room(to);
    try {
      out = decompress_to(file, most_out, room, threads, watch);
    } catch (const Room::IsFull &) {
      if (watch.progress)
        watch.progress->done = done_before; // decompression begins again
      return std::optional<u64>();
    }
    return std::optional(room.size());
  });
  if (!memory)
    return std::nullopt;
  out->file = std::move(memory);
  return out;
}

// Decompresses a small file in one call, directly to its place. Null if it is not small or not valid.
std::shared_ptr<const MappedFile> decompress_small(Bytes file, const Watch &watch) {
  const std::vector<ZstdFrame> frames = find_zstd_frames(file, small);
  if (frames.size() != 1 || frames[0].bytes.size() != file.size() || frames[0].content.value_or(0) == 0 ||
      *frames[0].content > small)
    return nullptr;
  watch.check();
  constexpr u64 hardly_any = 1 << 20; // so little that asking for the free memory would cost more
  if (*frames[0].content > hardly_any && *frames[0].content > memory_left().value_or(~u64{0}) / 2)
    return nullptr;
  return MappedFile::try_in_memory(*frames[0].content, [&](std::span<std::byte> to) {
    const std::size_t size = ZSTD_decompress(to.data(), to.size(), file.data(), file.size());
    return size == to.size() && !first_loss(file) ? std::optional<u64>(size) : std::nullopt;
  });
}

Decompressed decompress_to_file(Bytes file, u64 most_out, const std::string &temp_dir, unsigned threads,
                                const Watch &watch) {
  TemporaryFile out(temp_dir);
  Decompressed result = decompress_to(file, most_out, out, threads, watch);
  result.file = out.map();
  return result;
}

} // namespace

bool is_compressed(Bytes file) { return compression_of(file) != Compression::none; }

std::vector<std::byte> first_decompressed(Bytes file, u64 most) {
  try {
    return with_decoder(file, [&]<class Decoder>() { return first_of<Decoder>(file, most); });
  } catch (const Error &) { // it needs more memory than it may have
    return {};
  }
}

Decompressed decompress(Bytes file, const std::string &temp_dir, unsigned threads, const Watch &watch,
                        const DecompressionLimits &limits) {
  Timer timer(watch, "decompress", file.size());
  MappedFile::will_read(file);
  if (temp_dir.empty()) {
    if (compression_of(file) == Compression::zstd)
      if (std::shared_ptr<const MappedFile> small_one = decompress_small(file, watch))
        return {small_one, {}};
  }
  u64 most_out = ~u64{0};
  if (limits.length_of)
    most_out = with_decoder(file, [&]<class Decoder>() { return most_of<Decoder>(file, limits); });
  if (temp_dir.empty()) {
    const u64 most = limits.most_in_memory.value_or(memory_left().value_or(0) / share_of_memory);
    if (std::optional<Decompressed> out = decompress_in_memory(file, most, most_out, threads, watch))
      return std::move(*out);
  }
  return decompress_to_file(file, most_out, temp_dir, threads, watch);
}

} // namespace dnheap
