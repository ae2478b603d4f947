#include "runtime/layout/object.h"

#include "base/error.h"

namespace dnheap {

void set_unchanging(ContractDescriptor &to, const char *type, const char *field, i64 offset) {
  if (to.try_offset(type, field).value_or(offset) != offset)
    throw Error(std::string("this runtime publishes ") + type + "." + field + " at offset " +
                std::to_string(to.offset(type, field)) + "; this program can only walk heaps in which it is at " +
                std::to_string(offset));
  if (!to.find_field(type, field))
    to.set_field(type, field, offset, Origin::discovered);
}

void derive_object(ContractDescriptor &to, u64 pointer_size) {
  const i64 p = static_cast<i64>(pointer_size);
  set_unchanging(to, "Object", "m_pMethTab", 0);
  set_unchanging(to, "Array", "m_NumComponents", p);
  set_unchanging(to, "String", "m_StringLength", p);
  set_unchanging(to, "String", "m_FirstChar", p + 4);
}

} // namespace dnheap
