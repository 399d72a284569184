// What the candidate's build reports by itself: alignment of the type accessed, indices outside of arrays, lost bits of
// a ballot, masks of waves, broken promises. The functions with a dot in their names are called by what sandbox/lab/probes.py adds; where
// they come back, they keep the caller's registers, so that the way around them costs nothing.
#include "shadow.h"

namespace ks {

struct TypeName {
    uint16_t kind, info;
    char text[];
};
struct Source {
    const char* file;
    uint32_t line, column;
};
struct Misfit {  // clang's record of a checked pointer
    Source source;
    const TypeName* type;
    uint8_t log_alignment, use;
};

static void report_here(Kind kind, uint64_t detail, bool write, uint64_t address, uint64_t place) {
    Finding finding = {};
    finding.kind = kind;
    finding.write = write;
    finding.detail = detail;
    finding.region = ~0u;
    if (address - g_memory.arena < g_memory.arena_bytes) locate(finding, address, kSpaceNear);
    describe_here(finding, place);
    add_finding(finding);
    abandon();
}

void report_misaligned(uint64_t address, uint64_t alignment, bool write, uint64_t place) {
    report_here(kMisaligned, alignment, write, address, place);
}

// Uses 0 to 5 are loads, stores, references, members and constructors; casts are no fault by themselves.
extern "C" void __ubsan_handle_type_mismatch_v1(const Misfit* data, uint64_t address) {
    if (data->use > 5) return;
    if (!address || !(address & ((1ull << data->log_alignment) - 1))) return;
    report_here(kMisaligned, 1ull << data->log_alignment, data->use == 1, address,
                (uint64_t)__builtin_return_address(0) - 1);
}

extern "C" void misaligned_copy(uint64_t address, uint64_t alignment, uint64_t write) asm("ks.misaligned");
extern "C" void misaligned_copy(uint64_t address, uint64_t alignment, uint64_t write) {
    report_here(kMisaligned, alignment, write, address, (uint64_t)__builtin_return_address(0) - 1);
}

static void report_index(Space space, uint64_t address, uint64_t size, uint64_t index, uint64_t count, uint64_t place) {
    Finding finding = {};
    finding.kind = kOutOfBounds;
    finding.detail = space;
    finding.size = (uint32_t)size;
    finding.address = address;
    finding.region = ~0u;
    finding.other[0] = index;
    finding.other[1] = count;
    describe_here(finding, place);
    add_finding(finding);
    abandon();
}

static bool in_same_variable(uint64_t one, uint64_t other) {
    const Request& request = *t_worker->request;
    for (uint64_t i = 0; i < request.head.lds_variables; i++) {
        const LdsVariable& variable = request.lds[i];
        uint64_t size = variable.size == kNone ? g_memory.dynamic_bytes : variable.size;
        if (one - variable.tls_offset < size) return other - variable.tls_offset < size;
    }
    return false;
}

// An index that does not fit the array named in the expression. `top` is the array of arrays it is a row of; `known`
// says that no more than it lies there. In LDS the access itself is checked, but for hitting another variable.
extern "C" __attribute__((preserve_most)) void index_beyond(uint64_t element, uint64_t size, uint64_t top,
                                                            uint64_t bytes, uint64_t index, uint64_t count,
                                                            uint64_t known) asm("ks.beyond");
extern "C" __attribute__((preserve_most)) void index_beyond(uint64_t element, uint64_t size, uint64_t top,
                                                            uint64_t bytes, uint64_t index, uint64_t count,
                                                            uint64_t known) {
    uint64_t place = (uint64_t)__builtin_return_address(0) - 1, offset = element - top, lds = (uint64_t)lds_base();
    const MemoryMap& map = g_memory;
    if (offset < bytes && offset + size <= bytes) return;
    if (t_worker->stacks.holds_apart(top)) {
        report_index(kSpacePrivate, element, size, index, count, place);
    } else if (top - lds < map.lds_bytes) {
        uint64_t hit = element - lds;
        if (known && hit < map.lds_bytes && map.lds_valid[hit] && !in_same_variable(top - lds, hit))
            report_index(kSpaceOtherLds, element, size, index, count, place);
    } else if (known && top >= map.image_lo && top < map.image_hi) {
        report_index(kSpaceOwn, element, size, index, count, place);
    }
}

// The candidate has promised an alignment (`__builtin_assume_aligned`) that the pointer has not.
extern "C" void __ubsan_handle_alignment_assumption(const void*, uint64_t pointer, uint64_t alignment, uint64_t) {
    report_here(kMisaligned, alignment, false, pointer, (uint64_t)__builtin_return_address(0) - 1);
}

extern "C" void __ubsan_handle_out_of_bounds(const void*, uint64_t index) {
    report_index(kSpaceVector, 0, 0, index, 0, (uint64_t)__builtin_return_address(0) - 1);
}

// The access leaves the one variable that it can only be meant for; seen late, through pointers and inlined calls.
extern "C" void __ubsan_handle_local_out_of_bounds_abort() {
    report_index(kSpacePrivate, 0, 0, 0, 0, (uint64_t)__builtin_return_address(0) - 1);
}

struct Shift {  // clang's record of a checked shift
    Source source;
    const TypeName* left;
};

static bool in_image(const void* place) {
    return (uint64_t)place - g_memory.image_lo < g_memory.image_hi - g_memory.image_lo;
}

// A shift by more bits than the value has, or by a negative number. One by exactly as many is left alone: a rotation by
// nothing is usually written so, and comes out right wherever hardware takes the amount modulo the width.
extern "C" void __ubsan_handle_shift_out_of_bounds(const Shift* data, uint64_t, uint64_t by) {
    if (!in_image(data) || !in_image(data->left) || data->left->kind) return;  // 0: whole numbers
    uint64_t bits = 1ull << (data->left->info >> 1 & 63);
    if (by == bits) return;
    Finding finding = {};
    finding.kind = kShift;
    finding.size = (uint32_t)bits;
    finding.detail = by;
    finding.region = ~0u;
    describe_here(finding, (uint64_t)__builtin_return_address(0) - 1);
    add_finding(finding);
    abandon();
}

extern "C" __attribute__((preserve_most)) void ballot_halved() asm("ks.halved");
extern "C" __attribute__((preserve_most)) void ballot_halved() {
    if (!t_hot.shadow || t_worker->request->head.wave == 32) return;
    report_here(kWaveMask, 0, false, 0, (uint64_t)__builtin_return_address(0) - 1);
}

// A 64-bit value became narrower by itself and changed: a fault when it is the ballot this work-item got last.
extern "C" void __ubsan_handle_implicit_conversion(const void*, uint64_t before, uint64_t) {
    if (!t_hot.shadow || before != t_lane->ballot || !(before >> 32)) return;
    report_here(kWaveMask, 0, false, 0, (uint64_t)__builtin_return_address(0) - 1);
}

// What the source has promised to the compiler does not hold: a GPU may do anything from here on.
extern "C" void promise_broken() asm("ks.broken");
extern "C" void promise_broken() { report_here(kTrap, 1, false, 0, (uint64_t)__builtin_return_address(0) - 1); }

extern "C" void ks_mask(unsigned long mask) {
    if (!t_hot.shadow || mask >> t_lane->number & 1) return;
    report_here(kWaveMask, mask ? mask : 1, true, 0, (uint64_t)__builtin_return_address(0) - 1);
}

}  // namespace ks
