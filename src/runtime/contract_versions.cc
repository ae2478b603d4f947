#include "runtime/contract_versions.h"

#include "base/missing_value.h"
#include "base/text.h"
#include "runtime/object_header.h"

namespace dnheap {

namespace {

// How to treat a contract of an unknown version.
enum class Unknown : u8 {
  refuse,    // without the contract, no object can be identified
  leave_out, // the answers that need it are left out
  read_on,   // the newest reader reads it: every value that it reads has to pass a test
};

struct Reader {
  const char *contract;
  const char *core_clr, *native_aot; // the versions that are read, separated by spaces; empty: no such contract
  Unknown otherwise;
};

constexpr char from_readers[] = "gc_readers()"; // runtime/gc.h

constexpr Reader readers[] = {
    {"GC", from_readers, from_readers, Unknown::refuse},
    {"Object", "c1", "c1 n1", Unknown::refuse},
    {"RuntimeTypeSystem", "c1", "n1 c1001", Unknown::refuse},
    {"Thread", "c1", "n1 c1001", Unknown::leave_out},
    {"SyncBlock", "c1", "", Unknown::leave_out},
    {"BuiltInCOM", "c1", "", Unknown::leave_out},
    // The data that these contracts lead to is tested: it must be metadata that defines the types that the runtime
    // loaded.
    {"Loader", "c1", "", Unknown::read_on},
    {"EcmaMetadata", "c1", "", Unknown::read_on},
    // The data is tested: a stub must lead to a sound MethodDesc.
    {"PrecodeStubs", "c1 c2 c3", "", Unknown::read_on},
    {"PlatformMetadata", "c1", "", Unknown::read_on},
};

// Returns the versions that a row lists.
std::string known_versions(const Reader &row, ReaderFamily family, std::span<const GcReader> more) {
  const char *listed = family == ReaderFamily::core_clr ? row.core_clr : row.native_aot;
  if (listed != from_readers)
    return listed;
  std::string out;
  for (std::span<const GcReader> all : {gc_readers(), more})
    for (const GcReader &reader : all)
      out += (out.empty() ? "" : " ") + reader.version;
  return out;
}

bool lists(std::string_view versions, std::string_view version) {
  while (!versions.empty()) {
    const std::size_t end = versions.find(' ');
    if (versions.substr(0, end) == version)
      return true;
    versions.remove_prefix(end == versions.npos ? versions.size() : end + 1);
  }
  return false;
}

std::string newest_of(std::string_view versions) { return std::string(versions.substr(versions.rfind(' ') + 1)); }

// All known versions have the same word in front of an object. If a target publishes another form of it, the answers
// that rest on that word are left out.
struct HeaderMask {
  const char *global;
  u64 value;
};
constexpr HeaderMask header_masks[] = {{"SyncBlockMaskLockThreadId", ObjectHeader::thread_mask},
                                       {"SyncBlockMaskLockRecursionLevel", ObjectHeader::recursion_mask},
                                       {"SyncBlockIsHashOrSyncBlockIndex", ObjectHeader::is_hash_or_index},
                                       {"SyncBlockIsHashCode", ObjectHeader::is_hash},
                                       {"SyncBlockIndexMask", ObjectHeader::index_mask},
                                       {"SyncBlockValueToObjectOffset", ObjectHeader::offset}};

std::string key_of(std::string_view contract) { return "contract " + std::string(contract); }

} // namespace

void choose_readers(ContractDescriptor &descriptor, ReaderFamily family, std::span<const GcReader> more) {
  for (const Reader &reader : readers) {
    const std::string known = known_versions(reader, family, more);
    auto published = descriptor.contracts.find(reader.contract);
    if (known.empty() || published == descriptor.contracts.end() || lists(known, published->second))
      continue;
    const std::string versions =
        "is of version " + printable(published->second, 100) + " in this target, but dnheap reads only " + known;
    if (reader.otherwise == Unknown::refuse)
      throw Error("the contract " + std::string(reader.contract) + " " + versions + ": a newer dnheap is needed");
    descriptor.missing[key_of(reader.contract)] =
        versions +
        (reader.otherwise == Unknown::leave_out ? ": it is not read" : ": it is read as " + newest_of(known));
  }
  for (const HeaderMask &mask : header_masks)
    if (const std::optional<u64> number = descriptor.try_number(mask.global); number && *number != mask.value)
      descriptor.missing[key_of("SyncBlock")] = "publishes " + std::string(mask.global) + " " + hex(*number) +
                                                ", but dnheap reads only " + hex(mask.value) + ": it is not read";
}

const std::string *why_not_read(const ContractDescriptor &descriptor, std::string_view contract) {
  for (const Reader &reader : readers)
    if (reader.contract == contract && reader.otherwise == Unknown::leave_out)
      if (auto found = descriptor.missing.find(key_of(contract)); found != descriptor.missing.end())
        return &found->second;
  return nullptr;
}

void require_reader(const ContractDescriptor &descriptor, std::string_view contract) {
  if (const std::string *why = why_not_read(descriptor, contract))
    throw MissingValue("the contract " + std::string(contract) + " " + *why, "contract " + std::string(contract));
}

} // namespace dnheap
