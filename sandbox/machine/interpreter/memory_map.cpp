#include "memory_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace machine {

MemoryMap g_memory;

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kWindow = 1 << 20;  // of a buffer in a survey, in which no value counts: pages are not touched twice

uint8_t* reserve(uint64_t bytes) {
    void* place =
        mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no memory for the buffers");
    return (uint8_t*)place;
}

void poison(uint8_t* low, uint64_t size, uint64_t word) {
    for (uint64_t offset = 0; offset + 8 <= size; offset += 8) memcpy(low + offset, &word, 8);
    memcpy(low + size / 8 * 8, &word, size % 8);
}

// The file's pages at the region's place, as often as they repeat.
void map_file(const Request& request, const RegionRequest& asked, uint64_t room, uint8_t* host) {
    const bool is_input = asked.role == kInput;
    const int protection = is_input ? PROT_READ : PROT_READ | PROT_WRITE;
    int flags = MAP_FIXED | (is_input ? MAP_PRIVATE : MAP_SHARED);
    if (!request.is_sparse()) flags |= MAP_POPULATE;  // cheaper than a fault for every page
    const int file = is_input ? request.input_file : request.memory_file;
    for (uint64_t offset = 0; offset < room; offset += asked.period) {
        const uint64_t size = room - offset < asked.period ? room - offset : asked.period;
        if (mmap(host + offset, size, protection, flags, file, (int64_t)asked.file_offset) == MAP_FAILED)
            die("a buffer cannot be mapped");
    }
}

void map_buffer(const Request& request, const RegionRequest& asked, Region& region, uint8_t* masks) {
    region = {};
    region.guest = asked.guest;
    region.size = asked.size;
    region.role = asked.role;
    region.space = Space::buffer;
    region.is_writable = asked.role != kInput;
    const bool is_folded = request.head.shapes && asked.size > kWindow + kPage;
    const uint64_t room = is_folded ? kWindow + kPage : asked.size;
    if (is_folded) region.folded = ~(kWindow - 1);
    region.host = reserve(room);
    if (asked.size && asked.file_offset != kNone64) map_file(request, asked, room, region.host);
    if (asked.role == kInput || request.head.checks == kBoundsOnly) return;
    region.written = asked.mask_offset == kNone64 ? reserve(asked.size) : masks + asked.mask_offset;
    if (asked.role == kUpdated) memset(region.written, 1, asked.size);
    region.is_watched = request.head.checks == kAllChecks && asked.role != kUpdated;
}

uint8_t* g_arguments;
uint8_t* g_argument_marks;
constexpr uint64_t kArgumentBytes = 65536 + 4096, kPacketBytes = 64;

void map_arguments() {
    g_arguments = reserve(kPacketOffset + kPacketBytes);
    g_argument_marks = reserve(kPacketOffset + kPacketBytes);
    Region& region = g_memory.region[g_memory.count++];
    region = {};
    region.guest = kKernargBase;
    region.size = kPacketOffset + kPacketBytes;
    region.host = g_arguments;
    region.written = g_argument_marks;
    region.space = Space::arguments;
    region.is_watched = true;
    region.number = kNoRegion;
}

bool begins_before(const Region& a, const Region& b) { return a.guest < b.guest; }

void sort_regions() {
    for (uint32_t i = 1; i < g_memory.count; i++)
        for (uint32_t k = i; k > 0 && begins_before(g_memory.region[k], g_memory.region[k - 1]); k--) {
            const Region other = g_memory.region[k];
            g_memory.region[k] = g_memory.region[k - 1];
            g_memory.region[k - 1] = other;
        }
}

void map_sections(const Program& program) {
    for (uint64_t i = 0; i < program.head.sections; i++) {
        const Section& section = program.sections[i];
        Region& region = g_memory.region[g_memory.count++];
        region = {};
        region.guest = kDataBase + section.offset;
        region.size = section.size;
        region.host = program.data + section.offset;
        region.space = section.is_writable ? Space::variables : Space::constants;
        region.is_writable = section.is_writable;
        region.number = kNoRegion;
    }
}

}  // namespace

void map_memory(const Request& request, const Program& program) {
    if (request.head.regions + program.head.sections + 1 > kMaxRegions) die("too many buffers");
    uint8_t* masks = nullptr;
    if (request.head.mask_bytes) {
        const int flags = MAP_SHARED | (request.is_sparse() ? 0 : MAP_POPULATE);
        void* place = mmap(nullptr, request.head.mask_bytes, PROT_READ | PROT_WRITE, flags, request.mask_file, 0);
        if (place == MAP_FAILED) die("the masks cannot be mapped");
        masks = (uint8_t*)place;
    }
    g_memory.count = 0;
    for (uint64_t i = 0; i < request.head.regions; i++) {
        const RegionRequest& asked = request.regions[i];
        Region& region = g_memory.region[g_memory.count++];
        map_buffer(request, asked, region, masks);
        region.number = (uint32_t)i;
        const bool is_empty = asked.role == kOutput || asked.role == kWorkspace;
        if (is_empty && !request.is_sparse()) poison(region.host, region.size, asked.poison);
    }
    map_sections(program);
    map_arguments();
    sort_regions();
    const MemoryMap& map = g_memory;
    for (uint32_t i = 0; i < map.count && request.head.checks; i++)
        if (map.region[i].is_writable) prepare_region(i, map.region[i].size);
}

// What lies behind the arguments may be read, since loads are widened, and holds nothing.
void set_arguments(const Launch& launch, const Kernel& kernel) {
    memset(g_argument_marks, 0, kArgumentBytes);
    memset(g_arguments, 0xFF, kArgumentBytes);
    const uint64_t bytes = launch.argument_bytes < 65536 ? launch.argument_bytes : 65536;
    memcpy(g_arguments, launch.arguments, bytes);
    memset(g_argument_marks, 1, bytes);
    uint8_t* packet = g_arguments + kPacketOffset;
    for (int d = 0; d < 3; d++) {
        const uint16_t group = (uint16_t)launch.block[d];
        const uint32_t grid = (uint32_t)(launch.grid[d] * launch.block[d]);
        memcpy(packet + 4 + 2 * d, &group, 2);
        memcpy(packet + 12 + 4 * d, &grid, 4);
    }
    const uint32_t segments[2] = {(uint32_t)kernel.scratch_bytes, (uint32_t)(kernel.lds_bytes + launch.lds_bytes)};
    const uint64_t places[2] = {kCodeBase + 8 * kernel.entry, kKernargBase};
    memcpy(packet + 24, segments, 8);
    memcpy(packet + 32, places, 16);
    memset(g_argument_marks + kPacketOffset, 1, kPacketBytes);
}

void let_write_constants(bool is_allowed) {
    for (uint32_t i = 0; i < g_memory.count; i++)
        if (g_memory.region[i].space == Space::constants) g_memory.region[i].is_writable = is_allowed;
}

Region* region_of(uint64_t guest, uint64_t size) {
    uint32_t low = 0, high = g_memory.count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (g_memory.region[middle].guest <= guest)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return nullptr;
    Region& region = g_memory.region[low - 1];
    return is_within(region, guest, size) ? &region : nullptr;
}

uint32_t nearest_buffer(uint64_t guest, int64_t& offset) {
    uint64_t best = ~0ull;
    uint32_t nearest = kNoRegion;
    for (uint32_t i = 0; i < g_memory.count; i++) {
        const Region& region = g_memory.region[i];
        const uint64_t end = region.guest + region.size;
        const uint64_t distance = guest < region.guest ? region.guest - guest : guest < end ? 0 : guest - end;
        if (region.space != Space::buffer || distance >= best) continue;
        best = distance;
        nearest = region.number;
        offset = (int64_t)(guest - region.guest);
    }
    return nearest;
}

}  // namespace machine
