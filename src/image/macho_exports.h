// The trie in which a Mach-O image's exports lie: LC_DYLD_EXPORTS_TRIE, or the export part of LC_DYLD_INFO. A look-up
// goes down one path, at most as long as the name. Pure parsing of bytes; for image/macho_image.cc.
#pragma once
#include "base/bytes.h"

#include <optional>
#include <string_view>

namespace dnheap {

struct MachoExport {
  u64 value = 0;
  bool is_absolute = false; // else `value` counts from the image's header
};

// Nullopt for names that are not there, thread-local ones, and those that another image exports.
std::optional<MachoExport> find_macho_export(Bytes trie, std::string_view name);

} // namespace dnheap
