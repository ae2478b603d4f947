#include "report/headline.h"

#include "base/text.h"
#include "report/answer.h"

namespace dnheap::report {

namespace {

constexpr const char *incomplete = "INCOMPLETE: see the notes";

u64 bytes_of_gaps(const Completeness &of) {
  u64 bytes = of.more_gap_bytes;
  for (const Completeness::Gap &gap : of.gaps)
    bytes += gap.end - gap.start;
  return bytes;
}

// Roots have a clause of their own: the heap may be walked in full all the same.
std::string how_complete(const Completeness &of, bool shows_sum) {
  if (!of.has_heap)
    return "INCOMPLETE: the heap is not in this dump";
  const std::string sum =
      shows_sum ? count_text(of.objects) + " objects in " + bytes_text(of.bytes) + " of heap, " : std::string();
  const bool lacks_pieces = !of.gaps.empty() || of.more_gaps;
  if (!lacks_pieces && !of.bad_objects && !of.incomplete_records && !of.notes.have_effect_beyond(Subject::roots))
    return sum + "complete";
  if (!lacks_pieces || !of.is_walked)
    return sum + incomplete;
  return sum + "INCOMPLETE: " + bytes_text(bytes_of_gaps(of)) + " in " + count_text(of.gaps.size() + of.more_gaps) +
         (of.gaps.size() + of.more_gaps == 1 ? " gap" : " gaps") + " not walked";
}

} // namespace

std::string headline_text(const Answer &answer) {
  const Headline &head = answer.headline;
  std::string out = head.what;
  if (!head.place.empty())
    out += "; " + head.place;
  const std::optional<Completeness> &completeness = answer.completeness;
  if (head.shows_completeness && completeness)
    out += (head.place.empty() ? "; " : ", ") + how_complete(*completeness, head.shows_sum);
  out += head.facts;
  if (head.shows_completeness && completeness && completeness->notes.have_effect_on(Subject::roots))
    out += "; roots INCOMPLETE: see the notes";
  return out;
}

} // namespace dnheap::report
