// What guest addresses mean: buffers, the file's data, arguments. None is an address of this process.
#pragma once
#include "loaded_program.h"
#include "memory_model.h"
#include "request.h"

namespace machine {

constexpr uint32_t kNoRegion = ~0u;

enum class Space : uint8_t { buffer, constants, variables, arguments };

// A stretch of memory that accesses must stay within.
struct Region {
    uint64_t guest, size;
    uint64_t folded;  // bits of an offset that do not count: a survey keeps only so much of a buffer, over and over
    uint8_t* host;
    uint8_t* written;  // one byte for each byte: 1 where it is defined; null where all are
    uint64_t role;     // Role, of a buffer
    Space space;
    bool is_writable;
    uint32_t number;          // of the buffer in the request, or kNoRegion
    bool is_watched;          // a read of bytes that nobody wrote gives undefined bytes
    uint64_t changes;         // lanes' atomic changes since the start, also where nothing is watched
    uint64_t changes_before;  // the launch that runs

    uint32_t index() const;
};

struct MemoryMap {
    Region region[kMaxRegions + kMaxSections + 1];
    uint32_t count;
};

extern MemoryMap g_memory;

inline void count_changes(Region& region, uint64_t lanes) {
    __atomic_fetch_add(&region.changes, (uint64_t)__builtin_popcountll(lanes), __ATOMIC_RELAXED);
}

// Whether all of these bytes lie in the region.
inline bool is_within(const Region& region, uint64_t guest, uint64_t size) {
    const uint64_t offset = guest - region.guest;
    return offset < region.size && size <= region.size - offset;
}

inline uint32_t Region::index() const { return (uint32_t)(this - g_memory.region); }

// Maps the buffers' files and the file's data.
void map_memory(const Request& request, const Program& program);
// Puts the launch's arguments, and the packet that dispatches it, at kKernargBase.
void set_arguments(const Launch& launch, const Kernel& kernel);
// Constants are the host's to write: a launch that takes its part may do so.
void let_write_constants(bool is_allowed);
constexpr uint64_t kPacketOffset = 1 << 20;  // of the packet behind kKernargBase
// The region that holds all of these bytes, or null.
Region* region_of(uint64_t guest, uint64_t size);
// The index of the nearest buffer, and the offset of the address from its start.
uint32_t nearest_buffer(uint64_t guest, int64_t& offset);

}  // namespace machine
