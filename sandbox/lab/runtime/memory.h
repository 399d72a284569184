// The address map of the candidate: buffers between red zones, LDS in the thread-local image, stacks, its own globals.
#pragma once
#include <stdint.h>

#include "request.h"

namespace ks {

struct Region {
    uint64_t low, size, role;
    uint8_t* written;  // one byte per byte of an output, null for the others
};

constexpr int kMaxRegions = 254;
constexpr int kVariableSpans = 2;

struct Span {
    uint64_t low, high;
    bool initialised;  // begins as something else than zeros
    bool holds(uint64_t address, uint64_t size) const { return address - low < high - low && size <= high - address; }
};

struct MemoryMap {
    Region region[kMaxRegions + 2];  // 0: no buffer
    uint8_t* granule;                // which region a granule belongs to
    uint64_t arena, arena_bytes;
    uint8_t* lds_valid;  // one byte per byte of the thread-local image
    uint64_t lds_bytes;  // size of that image
    uint64_t dynamic_offset, dynamic_bytes;
    uint64_t image_lo, image_hi;
    Span constants, variables[kVariableSpans];  // of the candidate's file
    const uint8_t* memory;
    uint32_t count;
};

extern MemoryMap g_memory;

void map_memory(const Request& request);
// Marks the bytes of dynamic LDS that this launch has.
void set_dynamic_lds(uint64_t bytes);
// Where this thread's LDS begins. Thread-local image: variant II, it ends at the thread pointer.
uint8_t* lds_base();
void poison_lds(uint64_t dynamic_bytes);

// Checks one access of the candidate and records it; reports and abandons the workgroup when it is wrong.
void check_access(uint64_t address, uint64_t size, bool write, uint64_t place);
// As check_access for an atomic read-modify-write.
void check_atomic(uint64_t address, uint64_t size, uint64_t place);
// As check_access for an atomic load or store.
void check_atomic_move(uint64_t address, uint64_t size, bool write, uint64_t place);
void check_copy(uint64_t to, uint64_t from, uint64_t size, uint64_t place);
void report_misaligned(uint64_t address, uint64_t alignment, bool write, uint64_t place);

struct Finding;
enum Space : uint64_t {
    kSpaceNone,
    kSpaceNear,
    kSpaceLds,
    kSpaceNull,
    kSpaceImage,
    // What an index leaves: an array on the stack, of its own globals, one in LDS for another there; a native vector.
    kSpacePrivate,
    kSpaceOwn,
    kSpaceOtherLds,
    kSpaceVector,
    kSpacePrivateOther,  // another work-item's variables, or what lies between its own
    kSpaceCode           // a call of what is no function of the candidate, or one of another signature
};
// Names the address: the offset in LDS, or the nearest buffer and the offset in it.
void locate(Finding& finding, uint64_t address, uint64_t space);

}  // namespace ks
