/* dnheap for C, and for whatever can call C: opens the dump of a .NET process, or a process that runs, asks what the
 * program `dnheap` can be asked, and reads types, objects, references, strings, roots and dominators row by row. It is
 * libdnheap-c.so, which exports these functions and nothing else. C++ has its own interface: dnheap/dnheap.h.
 *
 * Results. Functions that can fail return a dnheap_code, 0 for success, and then fill what their last arguments point
 * to; on failure they leave it alone, and dnheap_error() says in one sentence what is wrong. No exception comes out,
 * nothing is printed, nothing ends the process. A null pointer where none may be is DNHEAP_WRONG_USAGE.
 *
 * Threads. Any thread may call anything. A snapshot works on a thread of its own, with as many threads besides as
 * options.threads says; calls on one snapshot, its rows included, wait for each other, calls on different ones do not.
 * Nothing may use a handle while, or after, it is closed. After fork() the child may use no handle of its parent's: its
 * calls fail with DNHEAP_WRONG_USAGE.
 *
 * Texts are UTF-8 and end with a zero byte. Names out of a dump have no control characters (they became '?'). Contents
 * of strings are as the process had them: they may be anybody's secret, and may contain zero bytes.
 *
 * Units. Sizes are bytes. Addresses are of the process that was dumped, never of this one; 0 is none. `bytes` of an
 * object or type is what ClrMD and SOS report, `aligned_bytes` what it takes in the heap; retained bytes are of the
 * latter kind.
 *
 * Versions. Within one DNHEAP_ABI_VERSION functions, codes and flags are only added, and structs only grow at their
 * end. So structs that you hand over begin with their size, and dnheap_next() is told the size of a row: what your
 * header does not know is not written, what the library does not know is zero. */
#ifndef DNHEAP_H
#define DNHEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(DNHEAP_API) /* where the library itself is built */
#elif defined(__GNUC__)
#define DNHEAP_API __attribute__((visibility("default")))
#else
#define DNHEAP_API
#endif

#define DNHEAP_ABI_VERSION 0 /* of libdnheap-c.so.0 */

/* The program's exit codes where it has one for the same. */
typedef enum dnheap_code {
  DNHEAP_OK = 0,
  DNHEAP_WRONG_USAGE = 2, /* the question is wrong, not the dump: an unknown option, a null pointer */
  DNHEAP_CANNOT = 3,      /* cannot open, understand, read or write */
  DNHEAP_NOT_FOUND = 5,   /* the question is right: but there is no such address or type */
  DNHEAP_NO_MEMORY = 6,   /* this process, or options.max_memory, has too little */
  DNHEAP_INTERNAL = 7,    /* an error of ours: please report it */
  DNHEAP_INTERRUPTED = 130
} dnheap_code;

/* "0.1.0": of the library that is loaded. */
DNHEAP_API const char *dnheap_version(void);
/* What is wrong, as one sentence: of the last function that failed on this thread; "" when none did. Good until
 * another one fails there. */
DNHEAP_API const char *dnheap_error(void);
/* "not found": what a code means, of any number. */
DNHEAP_API const char *dnheap_code_text(int code);
/* Gives back an answer. Null is nothing. */
DNHEAP_API void dnheap_free(void *answer);

/* ---- Opening ------------------------------------------------------------------------------------------------- */

typedef struct dnheap_snapshot dnheap_snapshot;

/* How far a long call is. */
typedef struct dnheap_progress {
  const char *pass;     /* "walk", "dominators", …; null between two */
  uint64_t done, total; /* bytes of the pass, never more than the total, unless that is 0: not known */
  uint64_t objects;     /* seen so far, where the pass sees objects */
} dnheap_progress;

/* Called on the thread that made the call, about ten times a second while that takes. Anything but 0 cancels, and so
 * does a C++ exception. It must not use the snapshot itself but for dnheap_cancel(): such a call fails with
 * DNHEAP_WRONG_USAGE. It must return: no longjmp(), no pthread_exit(). */
typedef int (*dnheap_on_progress)(void *context, const dnheap_progress *now);

/* All zero but `size` is how most want it; null instead of it as well. */
typedef struct dnheap_options {
  size_t size;                       /* sizeof(dnheap_options) */
  const char *const *module_folders; /* where to look for module files that the dump lacks */
  size_t module_folder_count;
  const char *temp_dir; /* for decompressing; null: $TMPDIR, /var/tmp, /tmp */
  uint64_t max_memory;  /* that the copy of a live process may take; 0 = no limit */
  uint32_t threads;     /* 0 = one per processor; at most 1024 */
  uint32_t runtime;     /* which one, from 1, when a process has several; 0 = the one that has a heap */
  uint32_t runs_on;     /* not 0: a live process is not stopped; what it changes meanwhile may come out wrong */
  uint32_t reserved;    /* 0 */
  dnheap_on_progress on_progress; /* null: none */
  void *context;                  /* for on_progress */
} dnheap_options;

/* A dump: an ELF core, a Windows minidump, or one of these compressed with zstd or gzip. Cheap: headers are read, the
 * rest when it is asked for; what is compressed is decompressed first. */
DNHEAP_API int dnheap_open(const char *path, const dnheap_options *options, dnheap_snapshot **snapshot);
/* A process of this machine (Linux). It stands still from here on until dnheap_release_process(), until its memory was
 * copied, or until the snapshot is closed. */
DNHEAP_API int dnheap_attach(uint64_t pid, const dnheap_options *options, dnheap_snapshot **snapshot);
/* Lets a live process go on; what was not read of it until then is unknown from now on. Nothing for dumps. */
DNHEAP_API int dnheap_release_process(dnheap_snapshot *snapshot);
/* Rows that are still open keep what they need. Null is nothing. */
DNHEAP_API void dnheap_close(dnheap_snapshot *snapshot);
/* What runs now, and all that is asked later, fails with DNHEAP_INTERRUPTED: open it again to go on. From any thread,
 * even amid another call, and from signal handlers. What had been worked out before may still be told. */
DNHEAP_API void dnheap_cancel(dnheap_snapshot *snapshot);

/* What was opened. Texts are good as long as the snapshot. */
typedef struct dnheap_info {
  size_t size;                 /* sizeof(dnheap_info): set it before the call */
  const char *path;            /* as it was named; "process 4711" */
  const char *container;       /* "elf-core", "minidump", "process" */
  const char *system;          /* "linux", "windows", "macos" */
  const char *architecture;    /* "x64", "arm64", … */
  const char *runtime;         /* "coreclr", "nativeaot", "corert" */
  const char *runtime_version; /* "10.0.14"; "": not known */
  uint64_t pid;                /* 0 = not known */
  uint32_t pointer_size;       /* 4 or 8 */
  uint32_t gc_heaps;           /* 1 but for server GC */
  uint32_t server_gc;          /* 0 or 1, as the next */
  uint32_t regions;
} dnheap_info;
DNHEAP_API int dnheap_get_info(dnheap_snapshot *snapshot, dnheap_info *info);

/* How much of the heap all answers rest on. The first call walks the heap. */
typedef struct dnheap_completeness {
  size_t size;          /* sizeof(dnheap_completeness): set it before the call */
  uint64_t objects;     /* walked, holes (Free) included */
  uint64_t bytes;       /* of these, as they lie in the heap */
  uint64_t bad_objects; /* places where no sound object lay */
  uint64_t gaps;        /* stretches that could not be walked; `dnheap_ask` names them */
  uint64_t gap_bytes;
  uint32_t complete; /* 0 or 1 */
  uint32_t reserved;
} dnheap_completeness;
DNHEAP_API int dnheap_get_completeness(dnheap_snapshot *snapshot, dnheap_completeness *completeness);

/* The process's memory. `*copied`: how many bytes from `address` on were there, perhaps 0. */
DNHEAP_API int dnheap_read(dnheap_snapshot *snapshot, uint64_t address, void *to, size_t size, size_t *copied);

/* ---- Asking -------------------------------------------------------------------------------------------------- */

/* A verb with its subject and options, spelled as on the program's command line but without the dump's name:
 * {"stat", "--type", "Shop\\."}, {"path", "Shop.Cache.Session", "--top=3"}. `dnheap help VERB` has them all. The answer
 * is JSON as doc/schema says, unless the options have a --format; it ends with a zero byte that `*size` does not count.
 * `size` may be null. Give it back with dnheap_free(). What --modules, --threads and such say is said by
 * dnheap_options, and refused here. */
DNHEAP_API int dnheap_ask(dnheap_snapshot *snapshot, const char *const *arguments, size_t count, char **answer,
                          size_t *size);
/* A whole command line, with the names of its dumps, or --pid: for verbs that open several (`diff`, `check`), make one
 * (`extract`), or need none (`ps`): {"diff", "before.core", "after.core"}. Each call opens anew what it names.
 * on_progress may be null. */
DNHEAP_API int dnheap_command(const char *const *arguments, size_t count, dnheap_on_progress on_progress, void *context,
                              char **answer, size_t *size);

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

/* What is read piece by piece, by dnheap_next(). Each function says what its rows are. */
typedef struct dnheap_rows dnheap_rows;

/* Fills `rows` with the next ones, at most `capacity`, and sets `*count`: 0 when there are no more. `row_size` is the
 * sizeof of one row. Texts in rows are good until the next call, or dnheap_close_rows(). A hundred or more at a time
 * cost least: a call takes 10 to 50 µs. When a call fails the rows are at their end. */
DNHEAP_API int dnheap_next(dnheap_rows *rows, void *buffer, size_t row_size, size_t capacity, size_t *count);
DNHEAP_API void dnheap_close_rows(dnheap_rows *rows); /* null is nothing */

#define DNHEAP_NO_TYPE UINT32_MAX
#define DNHEAP_NO_OFFSET UINT64_MAX

/* Generations. */
enum { DNHEAP_GEN0, DNHEAP_GEN1, DNHEAP_GEN2, DNHEAP_LOH, DNHEAP_POH, DNHEAP_FROZEN };

/* A type that has objects: by its MethodTable, so two instances of a generic type are two. */
enum { DNHEAP_TYPE_IS_FREE = 1 /* holes between objects look like objects of this one */, DNHEAP_TYPE_IS_ARRAY = 2 };
typedef struct dnheap_type {
  uint64_t method_table;
  uint64_t count, bytes, aligned_bytes;
  const char *name;     /* "System.Collections.Generic.List<Shop.Order>" */
  const char *assembly; /* "Shop.dll"; "": cannot be told */
  uint32_t id;          /* of types, from 0 and without holes; DNHEAP_NO_TYPE of Free */
  uint32_t flags;
} dnheap_type;
/* By MethodTable. Walks the heap once. */
DNHEAP_API int dnheap_types(dnheap_snapshot *snapshot, dnheap_rows **rows);

typedef struct dnheap_object {
  uint64_t address, method_table;
  uint64_t bytes;
  uint32_t type;      /* dnheap_type.id */
  uint8_t generation; /* DNHEAP_GEN0, … */
  uint8_t is_free;    /* 0 or 1 */
  uint8_t reserved[2];
} dnheap_object;
/* All objects in the order of their addresses, holes too. 40 ns each, and memory for some ten thousand. */
DNHEAP_API int dnheap_objects(dnheap_snapshot *snapshot, dnheap_rows **rows);

/* Of one object to another one. */
typedef struct dnheap_reference {
  uint64_t target;
  uint64_t offset;   /* from the object's first byte; DNHEAP_NO_OFFSET: no slot of the object has it */
  const char *field; /* "_items", "[17].value", "(dependent handle)" */
} dnheap_reference;
/* What one object refers to, in the order of its fields; the object may be named by an address inside it. */
DNHEAP_API int dnheap_references(dnheap_snapshot *snapshot, uint64_t object, dnheap_rows **rows);

typedef struct dnheap_edge {
  uint64_t from, to;
} dnheap_edge;
/* All references of the heap, by the address of the object that has them. Builds the graph: 12 bytes of memory per
 * object, 4 per reference. */
DNHEAP_API int dnheap_edges(dnheap_snapshot *snapshot, dnheap_rows **rows);
/* Who refers to one object: dnheap_edge, ascending. Looks at every reference of the heap. */
DNHEAP_API int dnheap_referrers(dnheap_snapshot *snapshot, uint64_t object, dnheap_rows **rows);

typedef struct dnheap_string {
  uint64_t address;
  uint64_t length;  /* UTF-16 code units of the string */
  const char *text; /* null: not in the dump */
  size_t text_size; /* in bytes, without the zero byte behind them */
} dnheap_string;
/* All System.String objects by address, of each at most `most` code units. 1 µs each. */
DNHEAP_API int dnheap_strings(dnheap_snapshot *snapshot, uint64_t most, dnheap_rows **rows);

enum {
  DNHEAP_ROOT_HANDLE,
  DNHEAP_ROOT_FINALIZER,
  DNHEAP_ROOT_STATIC,
  DNHEAP_ROOT_THREAD_STATIC,
  DNHEAP_ROOT_COM,
  DNHEAP_ROOT_STACK,
  DNHEAP_ROOT_STACK_CONSERVATIVE
};
enum {
  DNHEAP_ROOT_IS_CONSERVATIVE = 1, /* any words were looked at: it may be chance */
  DNHEAP_ROOT_IS_INTERIOR = 2,     /* what lies in the slot is the address of a part of the object */
  DNHEAP_ROOT_IS_PINNED = 4
};
typedef struct dnheap_root {
  uint64_t slot;         /* where the reference lies; 0: in a register */
  uint64_t object;       /* what it leads to */
  const char *kind_text; /* "handle:strong", "static", … */
  const char *name;      /* "Shop.Cache._items"; "": has none */
  const char *thread;    /* "thread 4711"; "": belongs to none */
  uint32_t kind;         /* DNHEAP_ROOT_HANDLE, … */
  uint32_t flags;
} dnheap_root;
/* What keeps objects alive by itself, by kind, then by slot. Walks the heap, and looks for static fields and stacks. */
DNHEAP_API int dnheap_roots(dnheap_snapshot *snapshot, dnheap_rows **rows);

typedef struct dnheap_dominated {
  uint64_t object;
  uint64_t dominator; /* through this one every way from a root leads; 0: through no single object */
  uint64_t retained_objects, retained_bytes; /* what would be freed with it, itself included */
} dnheap_dominated;
/* All objects that a root reaches, by address. Builds the dominator tree: 24 bytes of memory per object, 45 meanwhile.
 */
DNHEAP_API int dnheap_dominators(dnheap_snapshot *snapshot, dnheap_rows **rows);

#ifdef __cplusplus
}
#endif

#endif
