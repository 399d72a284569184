// What the lanes of a wave do together: shuffles, ballots, DPP, matrix instructions.
#include <string.h>

#include "ks_lab/calls.h"
#include "matrix.h"
#include "memory.h"
#include "shadow.h"
#include "trace.h"
#include "waiting.h"
#include "workgroup.h"

namespace ks {

static Finding lanes_missing(Wave& wave, uint64_t lanes, uint64_t detail) {
    Lane& lane = wave.lane[__builtin_ctzll(lanes)];
    Finding finding = {};
    finding.kind = kDivergentCollective;
    finding.region = ~0u;
    finding.detail = detail;
    describe_here(finding, lane.site);
    for (int i = 0; i < 3; i++) finding.thread[i] = lane.id[i];
    for (uint64_t rest = wave.waiting; rest; rest &= rest - 1) {
        uint64_t site = wave.lane[__builtin_ctzll(rest)].site;
        if (site != lane.site) finding.place[1] = site;
    }
    return finding;
}

// What a lane gets from one that does not take part: anything, another value in each execution.
static uint32_t undefined(uint64_t lane) {
    uint64_t word = (g_memory.arena >> 4) + t_worker->clock * 64 + lane + 1;
    word = (word ^ word >> 31) * 0x9E3779B97F4A7C15ull;
    return (uint32_t)((word ^ word >> 29) * 0xBF58476D1CE4E5B9ull >> 32);
}

// Source lane of one DPP control word for a lane, or -1 where there is none.
static int dpp_source(uint32_t control, int lane) {
    int row = lane & ~15, in_row = lane & 15, n = control & 15;
    if (control <= 0xFF) return (lane & ~3) | (control >> (2 * (lane & 3)) & 3);
    if (control >= 0x101 && control <= 0x10F) return in_row + n > 15 ? -1 : lane + n;
    if (control >= 0x111 && control <= 0x11F) return in_row < n ? -1 : lane - n;
    if (control >= 0x121 && control <= 0x12F) return row | ((in_row - n) & 15);
    if (control >= 0x150 && control <= 0x15F) return row | n;
    switch (control) {
    case 0x130:
        return lane == 63 ? -1 : lane + 1;
    case 0x134:
        return (lane + 1) & 63;
    case 0x138:
        return lane - 1;
    case 0x13C:
        return (lane - 1) & 63;
    case 0x140:
        return row | (15 - in_row);
    case 0x141:
        return (lane & ~7) | (7 - (lane & 7));
    case 0x142:
        return lane < 16 ? -1 : row - 1;
    case 0x143:
        return lane < 32 ? -1 : 31;
    default:
        return -1;
    }
}

// Source lane of ds_swizzle after the pseudocode in AMD's ISA documents: inside 32 lanes, or a quad permutation.
static int swizzle_source(uint32_t pattern, int lane) {
    if (pattern >= 0xE000) {  // the order of an FFT: the lane's bits from the other end
        uint32_t kept = pattern & 31, mirrored = __builtin_bitreverse32(lane & 31) >> 27;
        return (lane & 32) | (mirrored >> __builtin_popcount(kept)) | (lane & kept);
    }
    if (pattern >= 0xC000) {
        uint32_t by = pattern >> 5 & 31, kept = pattern & 31, from = lane + (pattern >> 10 & 1 ? 32 - by : by);
        return (lane & 32) | (lane & kept) | (from & ~kept & 31);
    }
    if (pattern & 0x8000) return (lane & ~3) | (pattern >> (2 * (lane & 3)) & 3);
    int in_half = ((lane & 31) & (pattern & 31)) | (pattern >> 5 & 31);
    return (lane & 32) | ((in_half ^ (pattern >> 10)) & 31);
}

struct Values {
    uint32_t value[64];
    uint64_t from_inactive;  // lanes that read a lane which is not taking part
};

static void pull(uint64_t lanes, const Values& in, Values& out, int lane, int source) {
    bool active = lanes >> source & 1;
    out.value[lane] = active ? in.value[source] : undefined(lane);
    if (!active) out.from_inactive |= 1ull << lane;
}

static void dpp(Lane& lane, uint64_t lanes, const Values& in, Values& out, int l) {
    uint32_t control = lane.b & 0xFFFF, rows = lane.b >> 16 & 15, banks = lane.b >> 20 & 15;
    bool zero = lane.b >> 24 & 1;
    uint32_t old = lane.a >> 32;
    bool written = (rows >> (l / 16) & 1) && (banks >> (l % 16 / 4) & 1);
    int source = dpp_source(control, l);
    if (!written)
        out.value[l] = old;
    else if (source < 0 || !(lanes >> source & 1))
        out.value[l] = zero ? 0 : old;
    else
        out.value[l] = in.value[source];
}

// A lane that reads one which does not take part gets anything, and that is a fault only where a result depends on it.
static void exchange(Worker& worker, Wave& wave, uint64_t lanes, uint32_t op) {
    Values in, out;
    out.from_inactive = 0;
    uint64_t bits = 0, width = worker.request->head.wave;
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctzll(rest);
        Lane& lane = wave.lane[l];
        in.value[l] = op == KS_BPERMUTE || op == KS_PERMUTE ? (uint32_t)lane.b : (uint32_t)lane.a;
        if (op == KS_BALLOT && lane.a) bits |= 1ull << l;
    }
    if (op == KS_PERMUTE) {
        memset(out.value, 0, sizeof out.value);
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            int l = __builtin_ctzll(rest);
            out.value[wave.lane[l].a / 4 % width] = in.value[l];
        }
    }
    int first = __builtin_ctzll(lanes);
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctzll(rest);
        Lane& lane = wave.lane[l];
        switch (op) {
        case KS_BPERMUTE:
            pull(lanes, in, out, l, lane.a / 4 % width);
            break;
        case KS_SWIZZLE:
            pull(lanes, in, out, l, swizzle_source(lane.b, l));
            break;
        case KS_READLANE:
            pull(lanes, in, out, l, lane.b % width);
            break;
        case KS_READFIRSTLANE:
            out.value[l] = in.value[first];
            break;
        case KS_DPP:
            dpp(lane, lanes, in, out, l);
            break;
        default:
            break;
        }
    }
    if (out.from_inactive && !is_suspected(wave.lane[__builtin_ctzll(out.from_inactive)].site))
        add_suspect(lanes_missing(wave, out.from_inactive, lanes));
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctzll(rest);
        if (op == KS_BALLOT) wave.lane[l].ballot = bits;
        wave.lane[l].a = op == KS_BALLOT ? bits : op == KS_EXEC ? lanes : out.value[l];
    }
}

void perform(Worker& worker, Wave& wave, uint64_t lanes) {
    Lane& first = wave.lane[__builtin_ctzll(lanes)];
    uint32_t op = first.op;
    if (worker.recorder) collective_recorded(worker, wave, lanes, op, first);
    if (op == KS_MATRIX) {
        // Matrix instructions ignore the execution mask: lanes that do not take part give undefined operands.
        if (lanes != ~0ull) {
            add_finding(lanes_missing(wave, lanes, lanes));
            worker.failed = true;
        } else {
            multiply_wave(wave, worker.request->head.exact);
        }
    } else if (op != KS_WAVE_BARRIER) {
        exchange(worker, wave, lanes, op);
    }
    lanes_met(wave, lanes);
    wave.waiting &= ~lanes;
    wave.ready |= lanes;
    if (worker.failed) wave.ready = wave.waiting = wave.fresh = 0;  // so that control goes back to the scheduler
}

// The operands of an instruction are registers, so they lie on the work-item's own stack.
static void check_instruction(uint32_t word, uint32_t modifiers, const void* a, const void* b, const void* d) {
    static constinit thread_local uint64_t known = 0;  // the last one that was found in the lists; 0 is none
    const uint64_t both = (uint64_t)word << 32 | modifiers;
    bool own = on_own_stack((uint64_t)a, 1) && on_own_stack((uint64_t)b, 1) && on_own_stack((uint64_t)d, 1);
    if (!own || ((!both || both != known) && !known_instruction(word, modifiers))) ks_trap();
    known = both;
}

// The rest of ks_wave, see wave.cpp: the stack to go on with.
extern "C" void* ks_wave_next(unsigned op, unsigned long a, unsigned long b, uint64_t site) {
    Lane& lane = *t_lane;
    if (op >= KS_WAVE_OPS || op == KS_MATRIX) ks_trap();
    lane.op = op;
    lane.a = a;
    lane.b = b;
    return next_in_wave(lane, site);
}

extern "C" void ks_matrix(unsigned shape, unsigned modifiers, const void* a, const void* b, void* d) {
    Lane& lane = *t_lane;
    check_instruction(shape & ~(1u << 31), modifiers, a, b, d);
    lane.op = KS_MATRIX;
    lane.a = shape & ~(1u << 31);
    lane.b = modifiers;
    lane.pa = a;
    lane.pb = b;
    lane.pd = d;
    wait_in_wave((uint64_t)__builtin_return_address(0) - 1);
}

// The index stands above the modifiers in the same word.
extern "C" void ks_sparse_matrix(unsigned shape, unsigned modifiers, unsigned index, const void* a, const void* b,
                                 void* d) {
    Lane& lane = *t_lane;
    check_instruction(shape | 1u << 31, modifiers, a, b, d);
    lane.op = KS_MATRIX;
    lane.a = shape | 1u << 31;
    lane.b = (uint64_t)index << 32 | modifiers;
    lane.pa = a;
    lane.pb = b;
    lane.pd = d;
    wait_in_wave((uint64_t)__builtin_return_address(0) - 1);
}

extern "C" void* ks_atomic(const volatile void* address, unsigned long size) {
    const uint64_t place = (uint64_t)__builtin_return_address(0) - 1;
    const bool again = is_polling(*t_worker, (uint64_t)address, place);
    check_atomic((uint64_t)address, size, place);
    note_look(*t_worker, (uint64_t)address, size, false, again);
    if (++t_worker->spins % 256 == 0) pause_lane();
    return (void*)address;
}

extern "C" void* ks_touch(const volatile void* address, unsigned long size, int write) {
    const uint64_t place = (uint64_t)__builtin_return_address(0) - 1;
    const bool recording = t_hot.recording;
    const bool again = !write && is_polling(*t_worker, (uint64_t)address, place);
    if (again) t_hot.recording = false;  // one look is counted
    check_atomic_move((uint64_t)address, size, write != 0, place);
    t_hot.recording = recording;
    if (!write) note_look(*t_worker, (uint64_t)address, size, true, again);
    if (++t_worker->spins % 256 == 0) pause_lane();
    return (void*)address;
}

extern "C" void ks_trap() {
    Finding finding = {};
    finding.kind = kTrap;
    finding.region = ~0u;
    describe_here(finding, (uint64_t)__builtin_return_address(0) - 1);
    add_finding(finding);
    abandon();
}

extern "C" int ks_is_shared(const volatile void* address) {
    return (uint64_t)address - (uint64_t)lds_base() < g_memory.lds_bytes;
}

extern "C" int ks_is_private(const volatile void* address) { return on_own_stack((uint64_t)address, 1); }

// Direct-to-LDS load: the base is the first lane's, a multiple of 4 (the hardware takes M0[15:2]), and lane i fills the
// i-th word behind it, also with a byte or a short, which zeros follow (CDNA3 ISA, "Memory Buffer Load to LDS" and 10.3;
// for bytes AMD's own test in rocRoller, ROCm/rocm-libraries pull request 5084).
extern "C" void ks_lds_load(const volatile void* from, volatile void* to, unsigned long size) {
    uint64_t place = (uint64_t)__builtin_return_address(0) - 1;
    uint64_t target = (uint64_t)to + 4 * t_lane->number;
    uint32_t word = 0;
    t_lane->direct = true;
    if (target & 3) report_misaligned(target, 4, true, place);
    if (size < 4) {
        check_access((uint64_t)from, size, false, place);
        check_access(target, 4, true, place);
        memcpy(&word, (const void*)from, size);
        memcpy((void*)target, &word, 4);
        return;
    }
    check_copy(target, (uint64_t)from, size, place);
    memcpy((void*)target, (const void*)from, size);
}

}  // namespace ks
