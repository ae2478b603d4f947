#include "runtime/coreclr/stress_log.h"

#include "base/text.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 most_threads = 1 << 16, most_chunks = 1 << 16, most_messages = 1 << 22, most_modules = 64;
constexpr u64 largest_chunk = 16 << 20;

class StressLogReader {
public:
  StressLogReader(const Memory &memory, const ContractDescriptor &d)
      : memory_(memory), d_(d), p_(memory.format().pointer_size) {}

  std::optional<StressLog> read() {
    const std::optional<u64> at = d_.try_number("StressLog");
    if (d_.try_number("StressLogEnabled").value_or(0) == 0 || !at || !is_published())
      return std::nullopt;
    log_ = *at;
    const Address first = memory_.pointer(log_ + of("StressLog", "Logs"), "the runtime's stress log");
    if (!first)
      return std::nullopt;
    read_start();
    read_modules();
    std::unordered_set<Address> seen;
    for (Address thread = first; thread; thread = word(thread + of("ThreadStressLog", "Next")).value_or(0)) {
      if (!seen.insert(thread).second || seen.size() > most_threads || !word(thread)) {
        out_.notes.add(Subject::logs, Effect::none, "the list of threads in the stress log breaks off");
        break;
      }
      read_thread(thread);
    }
    for (const auto &[why, threads] : ended_)
      out_.notes.add(Subject::logs, Effect::none,
                     "the stress log of " + count_text(threads) + (threads == 1 ? " thread" : " threads") +
                         " ends early: " + why);
    std::stable_sort(out_.messages.begin(), out_.messages.end(),
                     [](const StressMessage &a, const StressMessage &b) { return a.ticks < b.ticks; });
    return std::move(out_);
  }

private:
  struct Module {
    Address base;
    u64 size;
  };

  bool is_published() const {
    struct Value {
      const char *type, *field;
    };
    constexpr Value values[] = {{"StressLog", "Logs"},
                                {"StressLog", "TickFrequency"},
                                {"StressLog", "StartTimestamp"},
                                {"StressLog", "StartTime"},
                                {"ThreadStressLog", "Next"},
                                {"ThreadStressLog", "ThreadId"},
                                {"ThreadStressLog", "WriteHasWrapped"},
                                {"ThreadStressLog", "CurrentPtr"},
                                {"ThreadStressLog", "ChunkListHead"},
                                {"ThreadStressLog", "ChunkListTail"},
                                {"ThreadStressLog", "CurrentWriteChunk"},
                                {"StressLogChunk", "Next"},
                                {"StressLogChunk", "Buf"},
                                {"StressLogChunk", "Sig1"},
                                {"StressLogChunk", "Sig2"},
                                {"StressMsg", "Args"}};
    const u64 chunk = d_.try_number("StressLogChunkSize").value_or(0);
    const auto version = d_.contracts.find("StressLog");
    return chunk && chunk <= largest_chunk && version != d_.contracts.end() && version->second == "c2" &&
           std::all_of(std::begin(values), std::end(values),
                       [&](const Value &value) { return d_.find_field(value.type, value.field) != nullptr; });
  }
  u64 of(const char *type, const char *field) const { return static_cast<u64>(d_.offset(type, field)); }
  std::optional<u64> word(Address at) const { return memory_.try_pointer(at); }

  void read_start() {
    auto number = [&](const char *field) { return memory_.try_load<u64>(log_ + of("StressLog", field)).value_or(0); };
    out_.frequency = number("TickFrequency");
    out_.start_ticks = number("StartTimestamp");
    out_.start_time = number("StartTime");
    for (auto [field, to] : {std::pair{"LoggedFacilities", &out_.facilities}, {"Level", &out_.level}})
      if (const std::optional<i64> at = d_.try_offset("StressLog", field))
        *to = memory_.try_load<u32>(log_ + static_cast<u64>(*at)).value_or(0);
  }

  // Offsets of format strings count through all modules, one after another.
  void read_modules() {
    const std::optional<i64> table = d_.try_offset("StressLog", "Modules"),
                             base = d_.try_offset("StressLogModuleDesc", "BaseAddress"),
                             size = d_.try_offset("StressLogModuleDesc", "Size");
    const DataType *type = d_.find_type("StressLogModuleDesc");
    if (d_.try_number("StressLogHasModuleTable").value_or(0) && table && base && size && type->size) {
      const u64 count = std::min(d_.try_number("StressLogMaxModules").value_or(0), most_modules);
      for (u64 i = 0; i < count; ++i) {
        const Address at = log_ + static_cast<u64>(*table) + i * *type->size;
        modules_.push_back(
            {word(at + static_cast<u64>(*base)).value_or(0), word(at + static_cast<u64>(*size)).value_or(0)});
      }
    } else if (const std::optional<i64> offset = d_.try_offset("StressLog", "ModuleOffset")) {
      modules_.push_back({word(log_ + static_cast<u64>(*offset)).value_or(0), ~u64{0}});
    }
  }
  Address format_at(u64 offset) const {
    for (const Module &module : modules_) {
      if (offset < module.size)
        return module.base ? module.base + offset : 0;
      offset -= module.size;
    }
    return 0;
  }

  // Messages are written from a chunk's end to its beginning, chunk by chunk, each in front of the one before; once all
  // chunks are full, again in the oldest one. So reading goes upwards from the newest message, and continues in the
  // next chunk.
  void read_thread(Address thread) {
    auto field = [&](const char *name) { return word(thread + of("ThreadStressLog", name)).value_or(0); };
    const Address head = field("ChunkListHead"), tail = field("ChunkListTail"), newest = field("CurrentWriteChunk"),
                  current = field("CurrentPtr");
    const u64 id = memory_.try_load<u64>(thread + of("ThreadStressLog", "ThreadId")).value_or(0);
    const bool wrapped = memory_.try_load<u8>(thread + of("ThreadStressLog", "WriteHasWrapped")).value_or(0) != 0;
    if (!head || !newest)
      return; // the thread has written nothing yet
    ++out_.threads;
    const u64 longest = std::clamp<u64>(d_.try_number("StressLogMaxMessageSize").value_or(0x208), 16, chunk_size());
    // The newest message may have overwritten a part of the oldest one, which is then no longer a message.
    const Address safe = current - std::min(longest, current - std::min(current, begin_of(newest)));
    std::unordered_set<Address> seen;
    Address chunk = newest, at = current;
    for (u64 i = 0; i < most_chunks; ++i) {
      const bool is_again = !seen.insert(chunk).second;
      if (is_again && chunk != newest)
        return note_end("its chunks lead in a circle");
      if (!is_chunk(chunk) || at < begin_of(chunk) || at > end_of(chunk))
        return note_end("a chunk is damaged or not in this dump");
      if (!read_chunk(at, is_again ? safe : end_of(chunk), end_of(chunk), id) || is_again)
        return;
      if (chunk == tail && !wrapped)
        return;
      chunk = chunk == tail ? head : word(chunk + of("StressLogChunk", "Next")).value_or(0);
      if (!chunk)
        return;
      at = first_message(chunk, longest);
      if (!at)
        return;
    }
  }
  void note_end(const char *why) { ++ended_[why]; }
  u64 chunk_size() const { return *d_.try_number("StressLogChunkSize"); }
  Address begin_of(Address chunk) const { return chunk + of("StressLogChunk", "Buf"); }
  Address end_of(Address chunk) const { return begin_of(chunk) + chunk_size(); }
  bool is_chunk(Address chunk) const {
    const u64 valid = d_.try_number("StressLogValidChunkSig").value_or(0xcfcfcfcf);
    return memory_.try_load<u32>(chunk + of("StressLogChunk", "Sig1")) == valid &&
           memory_.try_load<u32>(chunk + of("StressLogChunk", "Sig2")) == valid;
  }
  // Returns where the first message of a chunk begins; 0: nothing was written to the chunk, which is zero at first.
  Address first_message(Address chunk, u64 longest) const {
    for (Address at = begin_of(chunk); at < begin_of(chunk) + longest; at += p_)
      if (word(at).value_or(0))
        return at;
    return 0;
  }

  // {u64: facility 32, arguments 6, low bits of the format's offset 26; u64: its high bits 13, ticks 51}, arguments.
  // False: all messages of the thread were read, or the rest cannot be read.
  bool read_chunk(Address at, Address until, Address end, u64 thread) {
    const u64 arguments_at = of("StressMsg", "Args");
    while (at < until && end - at >= arguments_at) {
      const std::optional<u64> first = memory_.try_load<u64>(at), second = memory_.try_load<u64>(at + 8);
      if (!first || !second) {
        note_end("not all of it is in this dump");
        return false;
      }
      const u64 count = *first >> 32 & 63, size = arguments_at + count * p_;
      if ((*first == 0 && *second == 0) || size > end - at)
        return false;
      if (out_.messages.size() >= most_messages) {
        note_end("it has more messages than this program reads");
        return false;
      }
      StressMessage message;
      message.thread = thread;
      message.ticks = *second >> 13;
      message.facility = static_cast<u32>(*first);
      message.format = format_at((*first >> 38) | (*second & 0x1fff) << 26);
      for (u64 i = 0; i < count; ++i)
        message.arguments.push_back(word(at + arguments_at + i * p_).value_or(0));
      out_.messages.push_back(std::move(message));
      at += size;
    }
    return true;
  }

  const Memory &memory_;
  const ContractDescriptor &d_;
  const u64 p_;
  Address log_ = 0;
  std::vector<Module> modules_;
  std::map<std::string, u64> ended_; // why the messages of a thread end early, with the number of threads
  StressLog out_;
};

} // namespace

std::optional<StressLog> read_stress_log(const Memory &memory, const ContractDescriptor &descriptor) {
  return StressLogReader(memory, descriptor).read();
}

} // namespace dnheap
