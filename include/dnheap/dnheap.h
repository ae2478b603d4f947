// All of dnheap. Costs an embedder only compile time.
#pragma once
#include "dnheap/collect.h"
#include "dnheap/error.h"
#include "dnheap/program.h"
#include "dnheap/sample.h"
#include "dnheap/text.h"
#include "dnheap/verb.h"
#include "dnheap/version.h"
#include "dnheap/watch.h"
