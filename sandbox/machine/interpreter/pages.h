// Memory whose pages come when they are touched.
#pragma once
#include <stdint.h>
#include <sys/mman.h>

#include "loaded_program.h"

namespace machine {

// Zeros. Most executions are short and touch a few pages of it: huge ones would cost more than they save.
inline void* pages(uint64_t bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no memory for an execution");
    return place;
}

}  // namespace machine
