// Note: one thing that is missing or odd, as data: its subject, its effect on the answer, and what to do. Whoever reads
// memory makes notes; answers collect them, and only the writers of formats make sentences of them.
#pragma once
#include "base/integers.h"

#include <string>
#include <string_view>

namespace dnheap {

// How the thing that a note reports changes the answer. An answer is complete if none of its notes has an effect.
enum class Effect : u8 {
  none,     // nothing is missing: the note says how something was found, or which names are unknown
  numbers,  // counts and sizes may be wrong; rows may be missing or too many
  liveness, // what is alive may look dead, or may have another owner
};

// The topic of a note. In the order of subject_names (note.cc).
enum class Subject : u8 {
  answer,          // this answer alone: lists that are cut, words that mean several things
  dump,            // the file, or the process while it is read
  runtime,         // values that describe the runtime
  heap,            // segments, gaps, allocation contexts
  gc,              // the GC's state and its own memory
  handles,         //
  statics,         // static fields and thread statics
  threads,         // the list of threads
  stacks,          //
  roots,           // any of the things that keep objects alive
  references,      //
  modules,         // assemblies and modules
  type_names,      //
  fields,          //
  locks,           //
  exceptions,      //
  memory,          // memory of the process outside of the heap
  code,            // compiled code
  logs,            // the stress log
  symbols,         // debug files
  crash_place,     // where the thread that crashed stood
  crash_thread,    // what that thread was doing
  crash_exception, // the exception that ended the process
};

const char *name_of(Subject subject);
const char *name_of(Effect effect);

struct Note {
  Subject subject = Subject::answer;
  Effect effect = Effect::none;
  std::string text;        // a whole phrase
  std::string remedy = {}; // what to do; empty: nothing, or the text says it
  // Names the cause, if other notes may have the same cause: a missing value, the reason why a stack ends. One of two
  // notes with the same key is enough.
  std::string key = {};

  // Returns the note as people read it: "roots: the thread list breaks off".
  std::string sentence() const;
  bool operator==(const Note &) const = default;
};

} // namespace dnheap
