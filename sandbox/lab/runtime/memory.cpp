#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "global_shadow.h"
#include "shadow.h"
#include "trace.h"
#include "variables.h"
#include "workgroup.h"

// All dynamic LDS of the candidate lies here, see sandbox/lab/elf.py.
alignas(128) constinit thread_local char ks_dynamic_lds[65536 + 128] = {};

namespace ks {

MemoryMap g_memory;
constinit thread_local Hot t_hot = {};

static void poison(uint8_t* low, uint64_t size, uint64_t word) {
    for (uint64_t at = 0; at + 8 <= size; at += 8) *(uint64_t*)(low + at) = word;
    memcpy(low + size / 8 * 8, &word, size % 8);
}

static void map_region(const Request& request, const RegionRequest& asked, Region& region, uint8_t* masks) {
    region.low = g_memory.arena + asked.arena_offset;
    region.size = asked.size;
    region.role = asked.role;
    region.written = asked.mask_offset == kNone ? nullptr : masks + asked.mask_offset;
    if (!asked.size) return;
    int protection = asked.role == kInput ? PROT_READ : PROT_READ | PROT_WRITE;
    int flags = MAP_FIXED | (asked.file_offset == kNone ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
                             : asked.role == kInput     ? MAP_PRIVATE
                                                        : MAP_SHARED);
    if (!request.is_sparse()) flags |= MAP_POPULATE;  // cheaper than a fault for every page
    int file = asked.file_offset == kNone ? -1 : asked.role == kInput ? request.input_file : request.memory_file;
    for (uint64_t at = 0; at < asked.size; at += asked.period) {
        uint64_t size = asked.size - at < asked.period ? asked.size - at : asked.period;
        void* place = mmap((void*)(region.low + at), size, protection, flags, file, file < 0 ? 0 : asked.file_offset);
        if (place == MAP_FAILED) die("a buffer cannot be mapped");
    }
    // Where only addresses matter, and where a few workgroups touch a little of much memory, zeros are enough.
    if (asked.role == kUpdated && region.written) memset(region.written, 1, asked.size);
    const bool is_empty = asked.role == kOutput || asked.role == kWorkspace;
    if (is_empty && !request.is_sparse()) poison((uint8_t*)region.low, asked.size, asked.poison);
}

static void map_lds(const Request& request) {
    MemoryMap& map = g_memory;
    uint64_t align = request.head.tls_align ? request.head.tls_align : 1;
    map.lds_bytes = (request.head.tls_bytes + align - 1) / align * align;
    map.lds_valid = (uint8_t*)calloc(map.lds_bytes + 64, 1);
    map.dynamic_offset = kNone;
    for (uint64_t i = 0; i < request.head.lds_variables; i++) {
        const LdsVariable& variable = request.lds[i];
        if (variable.size == kNone)
            map.dynamic_offset = variable.tls_offset;
        else
            memset(map.lds_valid + variable.tls_offset, 1, variable.size);
    }
}

void map_memory(const Request& request) {
    MemoryMap& map = g_memory;
    map.arena = request.head.arena;
    map.arena_bytes = request.head.arena_bytes;
    map.count = request.head.regions;
    map.image_lo = request.head.image_lo;
    map.image_hi = request.head.image_hi;
    map.constants = {request.head.constants_lo, request.head.constants_hi, true};
    map.variables[0] = {request.head.variables_lo, request.head.variables_hi, true};
    map.variables[1] = {request.head.zeros_lo, request.head.zeros_hi, false};
    map.granule = (uint8_t*)calloc(map.arena_bytes / kGranule + 1, 1);
    void* place = mmap((void*)map.arena, map.arena_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != (void*)map.arena) die("the address range of the buffers is not free");
    uint8_t* masks = nullptr;
    if (request.head.mask_bytes) {
        int flags = MAP_SHARED | (request.is_sparse() ? 0 : MAP_POPULATE);
        masks = (uint8_t*)mmap(nullptr, request.head.mask_bytes, PROT_READ | PROT_WRITE, flags, request.mask_file, 0);
        if (masks == MAP_FAILED) die("the masks cannot be mapped");
    }
    if (map.count > kMaxRegions) die("too many buffers");
    for (uint32_t i = 0; i < map.count; i++) {
        map_region(request, request.regions[i], map.region[i + 1], masks);
        uint64_t first = request.regions[i].arena_offset / kGranule;
        uint64_t granules = (request.regions[i].size + kGranule - 1) / kGranule;
        memset(map.granule + first, (int)i + 1, granules);
    }
    map_lds(request);
}

void set_dynamic_lds(uint64_t bytes) {
    MemoryMap& map = g_memory;
    if (map.dynamic_offset == kNone) return;
    memset(map.lds_valid + map.dynamic_offset, 0, 65536);
    memset(map.lds_valid + map.dynamic_offset, 1, bytes);
    map.dynamic_bytes = bytes;
}

static inline uint8_t* here() {  // thread-local, but the same all the time a thread lives
    uint64_t thread_pointer;
    asm("movq %%fs:0, %0" : "=r"(thread_pointer));
    return (uint8_t*)(thread_pointer - g_memory.lds_bytes);
}

uint8_t* lds_base() { return here(); }

void poison_lds(uint64_t) {
    const MemoryMap& map = g_memory;
    const Request& request = *t_worker->request;
    uint8_t* base = lds_base();
    for (uint64_t i = 0; i < request.head.lds_variables; i++) {
        const LdsVariable& variable = request.lds[i];
        memset(base + variable.tls_offset, 0xFF, variable.size == kNone ? map.dynamic_bytes : variable.size);
    }
}

[[noreturn, gnu::noinline]] static void report(Kind kind, uint64_t address, uint64_t size, bool write, uint64_t place,
                                               uint64_t space) {
    Finding finding = {};
    finding.kind = kind;
    finding.write = write;
    finding.size = size > 0xffffffffull ? ~0u : (uint32_t)size;
    finding.detail = space;
    describe_here(finding, place);
    locate(finding, address, space);
    add_finding(finding);
    abandon();
}

void locate(Finding& finding, uint64_t address, uint64_t space) {
    finding.address = address;
    finding.region = ~0u;
    if (space == kSpaceLds) finding.offset = (int64_t)(address - (uint64_t)lds_base());
    uint64_t best = ~0ull;
    for (uint32_t i = 1; space == kSpaceNear && i <= g_memory.count; i++) {
        const Region& region = g_memory.region[i];
        uint64_t end = region.low + region.size;
        uint64_t distance = address < region.low ? region.low - address : address >= end ? address - end : 0;
        if (distance >= best) continue;
        best = distance;
        finding.region = i - 1;
        finding.offset = (int64_t)(address - region.low);
    }
}

// An access to neither a buffer's inside nor the arena: its own stack apart, its file's variables, or an error.
[[gnu::noinline]] static void check_elsewhere(uint64_t address, uint64_t size, bool write, bool atomic,
                                              uint64_t place) {
    const MemoryMap& map = g_memory;
    if (on_own_stack(address, size)) return;
    const Stacks& stacks = t_worker->stacks;
    if (stacks.holds(address) || stacks.holds_apart(address)) {
        uint64_t top = (uint64_t)((void**)t_lane->stack)[2], now = (uint64_t)__safestack_unsafe_stack_ptr;
        bool full = stacks.in_guard(address) || top - now > kApartBytes;
        report(full ? kStackOverflow : kOutOfBounds, address, size, write, place,
               full ? kSpaceNone : kSpacePrivateOther);
    }
    for (const Span& span : map.variables)
        if (span.holds(address, size)) return touch_variable(address, size, !write || atomic, place);
    if (!write && map.constants.holds(address, size)) return;
    if (address >= map.image_lo && address < map.image_hi)
        report(kOutOfBounds, address, size, write, place, kSpaceImage);
    report(kOutOfBounds, address, size, write, place, address < 65536 ? kSpaceNull : kSpaceNone);
}

[[noreturn, gnu::noinline]] static void report_private(uint64_t address, uint64_t size, uint64_t place) {
    uint64_t top = (uint64_t)((void**)t_lane->stack)[2], now = (uint64_t)__safestack_unsafe_stack_ptr;
    bool full = top - now > kApartBytes;
    report(full ? kStackOverflow : kOutOfBounds, address, size, true, place, full ? kSpaceNone : kSpacePrivateOther);
}

[[gnu::noinline]] static void settle_before() {
    settle_pending();
    if (t_worker->failed) abandon();
}

// Inlined for each width, so that what is known of the access is known to the compiler.
KS_HOT void check(uint64_t address, uint64_t size, uint32_t flags, uint64_t place) {
    const MemoryMap& map = g_memory;
    const bool write = flags & kWrites, atomic = flags & kAtomically;
    if (__builtin_expect(t_hot.pending, 0)) settle_before();
    uint64_t offset = address - map.arena;
    t_hot.accesses++;
    if (__builtin_expect(offset < map.arena_bytes, 1)) {
        uint32_t index = map.granule[offset / kGranule];
        const Region& region = map.region[index];
        uint64_t inside = address - region.low;
        if (__builtin_expect(inside > region.size || size > region.size - inside, 0))
            report(kOutOfBounds, address, size, write, place, kSpaceNear);
        if (write) {
            if (__builtin_expect(region.role == kInput, 0))
                report(kInputWritten, address, size, write, place, kSpaceNear);
            if (region.written && !t_hot.shadow) mark_written(region.written + inside, size);
        } else if (region.role != kInput) {
            t_hot.read_intermediate = true;
        }
        if (atomic && write) t_worker->atomics[index]++, t_hot.atomic = true;
        if (region.role != kInput && t_hot.shadow)
            touch_global(index, inside, Touch{address, size, place, flags, t_lane->flat, true});
        if (atomic) t_hot.narrow = false;
        if (__builtin_expect(t_hot.recording, 0)) record_global(*t_worker, index, inside, size, write, atomic, place);
        return;
    }
    uint64_t local = address - (uint64_t)here();
    if (local < map.lds_bytes) {
        // Variables lie at least 64 bytes apart, so a short access with both ends inside lies inside one.
        bool good = size <= 64 ? map.lds_valid[local] & map.lds_valid[local + size - 1]
                               : size <= map.lds_bytes - local && !memchr(map.lds_valid + local, 0, size);
        if (__builtin_expect(!good, 0)) report(kOutOfBounds, address, size, write, place, kSpaceLds);
        if (t_hot.shadow) touch_lds(local, size, flags, place);
        if (atomic) t_hot.narrow = false;
        if (__builtin_expect(t_hot.recording, 0)) record_lds(*t_worker, local, size, write, atomic, place);
        return;
    }
    check_elsewhere(address, size, write, atomic && (flags & kReads), place);
    if (atomic && write) t_hot.atomic = true;
    if (atomic && t_hot.shadow && !t_hot.narrow) meet_at_flag(address, flags & kReads, write);
    if (atomic) t_hot.narrow = false;
}

void check_access(uint64_t address, uint64_t size, bool write, uint64_t place) {
    if (size) check(address, size, write ? kWrites : kReads, place);
}

void check_atomic_move(uint64_t address, uint64_t size, bool write, uint64_t place) {
    check(address, size, kAtomically | (write ? kWrites : kReads), place);
}

void check_copy(uint64_t to, uint64_t from, uint64_t size, uint64_t place) {
    if (!size) return;
    check(from, size, kReads | kCopies, place);
    check(to, size, kWrites | kCopies, place);
}

void check_atomic(uint64_t address, uint64_t size, uint64_t place) {
    if (address & (size - 1)) report(kMisaligned, address, size, true, place, kSpaceNear);
    check(address, size, kReads | kWrites | kAtomically, place);
}

// A load from an input that nobody counts, the commonest access of all: no register is saved for what it does not need.
KS_HOT bool is_plain_load(uint64_t address, uint64_t size) {
    const MemoryMap& map = g_memory;
    const uint64_t offset = address - map.arena;
    if (offset >= map.arena_bytes || t_hot.pending || t_hot.recording) return false;
    const Region& region = map.region[map.granule[offset / kGranule]];
    const uint64_t inside = address - region.low;
    return region.role == kInput && inside <= region.size && size <= region.size - inside;
}

template <uint64_t size> [[gnu::noinline]] static uint64_t load(uint64_t address, uint64_t place) {
    if (__builtin_expect(address & ((size > 8 ? 8 : size) - 1), 0))
        report(kMisaligned, address, size, false, place, kSpaceNear);
    check(address, size, kReads, place);
    return address;
}

// The checks give back the pointer, and the access uses what they give back: see sandbox/lab/build/sealed_ir.py.
#define KS_CHECK(N)                                                                             \
    extern "C" uint64_t load##N(uint64_t address) asm("ks.load" #N);                            \
    extern "C" uint64_t load##N(uint64_t address) {                                             \
        if (__builtin_expect(address & ((N > 8 ? 8 : N) - 1), 0) || !is_plain_load(address, N)) \
            return load<N>(address, (uint64_t)__builtin_return_address(0) - 1);                 \
        t_hot.accesses++;                                                                       \
        return address;                                                                         \
    }                                                                                           \
    extern "C" uint64_t store##N(uint64_t address) asm("ks.store" #N);                          \
    extern "C" uint64_t store##N(uint64_t address) {                                            \
        uint64_t place = (uint64_t)__builtin_return_address(0) - 1;                             \
        if (__builtin_expect(address & ((N > 8 ? 8 : N) - 1), 0))                               \
            report(kMisaligned, address, N, true, place, kSpaceNear);                           \
        check(address, N, kWrites, place);                                                      \
        return address;                                                                         \
    }
KS_CHECK(1)
KS_CHECK(2)
KS_CHECK(4)
KS_CHECK(8)
KS_CHECK(16)

extern "C" uint64_t load_any(uint64_t address, uint64_t size) asm("ks.loadN");
extern "C" uint64_t load_any(uint64_t address, uint64_t size) {
    check_access(address, size, false, (uint64_t)__builtin_return_address(0) - 1);
    return address;
}
extern "C" uint64_t store_any(uint64_t address, uint64_t size) asm("ks.storeN");
extern "C" uint64_t store_any(uint64_t address, uint64_t size) {
    check_access(address, size, true, (uint64_t)__builtin_return_address(0) - 1);
    return address;
}

// A variable of the function, at a place that only the run shows.
extern "C" uint64_t in_private(uint64_t address, uint64_t size) asm("ks.private");
extern "C" uint64_t in_private(uint64_t address, uint64_t size) {
    if (__builtin_expect(!on_own_stack(address, size), 0))
        report_private(address, size, (uint64_t)__builtin_return_address(0) - 1);
    return address;
}

// One of the candidate's functions with the signature that is called; `known` ends in null.
extern "C" uint64_t callee(uint64_t function, const uint64_t* known) asm("ks.callee");
extern "C" uint64_t callee(uint64_t function, const uint64_t* known) {
    for (; *known; known++)
        if (*known == function) return function;
    report(kOutOfBounds, function, 0, false, (uint64_t)__builtin_return_address(0) - 1, kSpaceCode);
}

extern "C" void* __asan_memcpy(void* to, const void* from, uint64_t size) {
    check_copy((uint64_t)to, (uint64_t)from, size, (uint64_t)__builtin_return_address(0) - 1);
    return memmove(to, from, size);
}
extern "C" void* __asan_memmove(void* to, const void* from, uint64_t size) {
    check_copy((uint64_t)to, (uint64_t)from, size, (uint64_t)__builtin_return_address(0) - 1);
    return memmove(to, from, size);
}
extern "C" void* __asan_memset(void* to, int value, uint64_t size) {
    check_access((uint64_t)to, size, true, (uint64_t)__builtin_return_address(0) - 1);
    return memset(to, value, size);
}
extern "C" void __asan_handle_no_return() {}

}  // namespace ks
