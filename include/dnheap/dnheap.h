// All of dnheap. Costs an embedder nothing but the compiler's time.
#pragma once
#include "dnheap/error.h"
#include "dnheap/snapshot.h"
#include "dnheap/version.h"
