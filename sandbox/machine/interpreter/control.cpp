// Branches, calls, the end of a wave, MODE and what else stands between the arithmetic.
#include "indexed.h"
#include "report.h"
#include "scalars.h"
#include "scheduler.h"

namespace machine {

using u32 = uint32_t;
using u64 = uint64_t;

static void nothing(Wave&, const Instruction&) {}

// What the assembler knows and no kernel of gfx942 can use.
static void refuse(Wave& w, const Instruction&) { report(w, kIllegal, w.exec()); }

static void branch(Wave& w, const Instruction& in) { w.next = in.target; }

template <bool kWanted> static void branch_on_scc(Wave& w, const Instruction& in) {
    if (!w.scalar_defined[kScc]) report_undefined(w, w.exec(), w.scalar_origin[kScc]);
    if ((w.s[kScc] & 1) == kWanted) w.next = in.target;
}

// A mask of which one known bit is set is not zero, whatever the others are.
template <bool kWanted> static void branch_on_vcc(Wave& w, const Instruction& in) {
    const u64 value = w.scalar64(kVcc), known = w.scalar_defined[kVcc] | (u64)w.scalar_defined[kVcc + 1] << 32;
    if (known != kAll && !(value & known))
        report_undefined(w, ~known, ~w.scalar_defined[kVcc] ? w.scalar_origin[kVcc] : w.scalar_origin[kVcc + 1]);
    if ((value != 0) == kWanted) w.next = in.target;
}

template <bool kWanted> static void branch_on_exec(Wave& w, const Instruction& in) {
    if ((w.exec() != 0) == kWanted) w.next = in.target;
}

static u64 address_of(u32 instruction) { return kCodeBase + 8ull * instruction; }

static void go_to(Wave& w, const Scalar& to) {
    if (to.defined != kAll) report_undefined(w, w.exec(), to.origin);
    jump(w, to.value);
}

static void get_address(Wave& w, const Instruction& in) {
    put_scalar(w, in.result[0], address_of(w.next), kAll, kNowhere);
}

static void set_address(Wave& w, const Instruction& in) { go_to(w, scalar_source(w, in, 0)); }

static void swap_address(Wave& w, const Instruction& in) {
    const Scalar to = scalar_source(w, in, 0);
    get_address(w, in);
    go_to(w, to);
}

static void call(Wave& w, const Instruction& in) {
    get_address(w, in);
    w.next = in.target;
}

// A store that only the scalar cache has is lost with the wave.
static void end(Wave& w, const Instruction&) {
    if (w.unwritten != kNowhere) return report(w, kMissingWait, w.exec(), kNotWrittenBack, w.unwritten);
    end_wave(w);
}

static void sleep(Wave& w, const Instruction&) { sleep_wave(w); }

// 3 is a stop for debuggers, which goes on where there is none.
static void trap(Wave& w, const Instruction& in) {
    if (in.offset != 3) report(w, kTrap, w.exec());
}

static void halt(Wave& w, const Instruction& in) {
    if (in.offset & 1) report(w, kTrap, w.exec());
}

// The register, and which bits of it, that s_getreg and s_setreg name.
struct Stretch {
    u32 id, offset, mask;
};

static Stretch stretch_of(const Instruction& in) {
    const u32 size = (in.control >> 11 & 31) + 1u;
    return {in.control & 63u, in.control >> 6 & 31u, size == 32 ? ~0u : (1u << size) - 1};
}

constexpr u32 kModeRegister = 1, kOutstandingRegister = 7, kIndexEnable = 27;

static u32 mode_bits(const Wave& w) {
    const Mode& m = w.mode;
    const u32 other = w.hardware[kModeRegister] & ~0x80003ffu;
    return other | m.round_single | m.round_double << 2 | m.denormal_single << 4 | m.denormal_double << 6 |
           m.dx10_clamp << 8 | m.ieee << 9 | (u32)(w.index_mode != 0) << kIndexEnable;
}

static void set_mode(Wave& w, u32 bits) {
    const auto field = [&](int from) { return (uint8_t)(bits >> from & 3); };
    w.mode = {field(0), field(2), field(4), field(6), (uint8_t)(bits >> 8 & 1), (uint8_t)(bits >> 9 & 1)};
    w.index_mode = bits >> kIndexEnable & 1 ? (w.s[kM0] >> 12 & 15) | kIndexOn : 0;
    w.hardware[kModeRegister] = bits;
}

// Operations that have not been waited for, as IB_STS counts them: vmcnt in bits 0 to 3 and 22 to 23, lgkmcnt in 8 to 11.
static u32 outstanding_bits(const Wave& w) {
    const u32 memory = w.pending.memory.count < 63 ? w.pending.memory.count : 63;
    const u32 local = w.pending.local.count < 15 ? w.pending.local.count : 15;
    return (memory & 15) | local << 8 | memory >> 4 << 22;
}

static void get_register(Wave& w, const Instruction& in) {
    const Stretch s = stretch_of(in);
    const u32 value = s.id == kModeRegister          ? mode_bits(w)
                      : s.id == kOutstandingRegister ? outstanding_bits(w)
                                                     : w.hardware[s.id];
    put_scalar(w, in.result[0], value >> s.offset & s.mask, kAll, kNowhere);
}

static void set_register(Wave& w, const Instruction& in) {
    const Stretch s = stretch_of(in);
    const Scalar from = scalar_source(w, in, 0);
    if (s.mask & ~(u32)from.defined) report_undefined(w, w.exec(), from.origin);
    const u32 before = s.id == kModeRegister ? mode_bits(w) : w.hardware[s.id];
    const u32 mask = s.mask << s.offset, after = (before & ~mask) | ((u32)from.value << s.offset & mask);
    if (s.id == kModeRegister)
        set_mode(w, after);
    else
        w.hardware[s.id] = after;
}

static void set_m0(Wave& w, u32 mask, u32 bits, u32 known, u32 origin) {
    w.s[kM0] = (w.s[kM0] & ~mask) | (bits & mask);
    w.scalar_defined[kM0] = (w.scalar_defined[kM0] & ~mask) | (known & mask);
    if (mask & ~known) w.scalar_origin[kM0] = origin;
}

static void set_index_mode(Wave& w, const Instruction& in) {
    const u32 selected = (u32)in.offset & 15;
    if (w.index_mode) w.index_mode = selected | kIndexOn;
    set_m0(w, 0xf000, selected << 12, ~0u, kNowhere);
}

static void set_index(Wave& w, const Instruction& in) {
    const Scalar index = scalar_source(w, in, 0);
    set_m0(w, 255, (u32)index.value, (u32)index.defined, index.origin);
}

static void index_on(Wave& w, const Instruction& in) {
    set_index(w, in);
    w.index_mode = kIndexOn;
    set_index_mode(w, in);
}

static void index_off(Wave& w, const Instruction&) { w.index_mode = 0; }

// Moves from, or to, the scalar register that lies M0 further than the operand.
template <bool kFrom> static void move_relative(Wave& w, const Instruction& in) {
    constexpr u32 kEnd = kFlatScratch;  // s0 to s101
    Instruction moved = in;
    Operand& shifted = kFrom ? moved.source[0] : moved.result[0];
    if (w.scalar_defined[kM0] != ~0u) report_undefined(w, w.exec(), w.scalar_origin[kM0]);
    const u64 index = (u64)shifted.index + w.s[kM0];
    if (shifted.kind != kScalar || index + shifted.dwords > kEnd) return report(w, kOutOfBounds, w.exec(), w.s[kM0]);
    shifted.index = (u32)index;
    const Scalar value = scalar_source(w, moved, 0);
    put_scalar(w, moved.result[0], value.value, value.defined, value.origin);
}

// A clock that goes on by itself and is a wave's own: hardware registers 62 and 63, which have no name.
static void read_clock(Wave& w, const Instruction& in) {
    constexpr u32 kClock = 62, kStep = 64;
    const u64 now = (w.hardware[kClock] | (u64)w.hardware[kClock + 1] << 32) + kStep;
    w.hardware[kClock] = (u32)now;
    w.hardware[kClock + 1] = (u32)(now >> 32);
    put_scalar(w, in.result[0], now, kAll, kNowhere);
}

MACHINE_SEMANTICS(kControl, {"s_branch", branch}, {"s_cbranch_scc0", branch_on_scc<false>},
                  {"s_cbranch_scc1", branch_on_scc<true>}, {"s_cbranch_vccz", branch_on_vcc<false>},
                  {"s_cbranch_vccnz", branch_on_vcc<true>}, {"s_cbranch_execz", branch_on_exec<false>},
                  {"s_cbranch_execnz", branch_on_exec<true>}, {"s_cbranch_cdbgsys", nothing},
                  {"s_cbranch_cdbguser", nothing}, {"s_cbranch_cdbgsys_or_user", nothing},
                  {"s_cbranch_cdbgsys_and_user", nothing}, {"refused", refuse}, {"s_getpc_b64", get_address},
                  {"s_setpc_b64", set_address}, {"s_swappc_b64", swap_address}, {"s_call_b64", call}, {"s_endpgm", end},
                  {"s_endpgm_saved", end}, {"s_endpgm_ordered_ps_done", end}, {"s_sleep", sleep}, {"s_trap", trap},
                  {"s_sethalt", halt}, {"s_nop", nothing}, {"s_setprio", nothing}, {"s_sendmsg", nothing},
                  {"s_sendmsghalt", halt}, {"s_icache_inv", nothing}, {"s_ttracedata", nothing},
                  {"s_incperflevel", nothing}, {"s_decperflevel", nothing}, {"s_wakeup", nothing},
                  {"s_setkill", nothing}, {"s_getreg_b32", get_register}, {"s_setreg_b32", set_register},
                  {"s_set_gpr_idx_on", index_on}, {"s_set_gpr_idx_off", index_off},
                  {"s_set_gpr_idx_mode", set_index_mode}, {"s_set_gpr_idx_idx", set_index},
                  {"s_movrels_b32", move_relative<true>}, {"s_movrels_b64", move_relative<true>},
                  {"s_movreld_b32", move_relative<false>}, {"s_movreld_b64", move_relative<false>},
                  {"s_memtime", read_clock}, {"s_memrealtime", read_clock})

}  // namespace machine
