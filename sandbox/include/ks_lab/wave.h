// Barriers, shuffles, ballots, DPP; scheduling hints do nothing here.
#ifndef KS_LAB_WAVE_H
#define KS_LAB_WAVE_H

// A fence of a wave orders nothing for others; an address space narrows what it waits for.
KS_INLINE constexpr unsigned ks_scope(const char* scope, const char* space) {
    unsigned reach = scope[0] == 's' || (scope[0] == 'w' && scope[1] == 'a') ? 0 : scope[0] == 'w' ? 3 : 7;
    return reach & (space[0] == 'l' ? 1 : space[0] == 'g' ? 6 : 7);
}
KS_INLINE constexpr unsigned ks_scope(const char* scope) { return ks_scope(scope, ""); }
KS_INLINE constexpr unsigned ks_scope(const char* scope, const char* one, const char* other) {
    return ks_scope(scope, one) | ks_scope(scope, other);
}
KS_INLINE void ks_release(int order, unsigned kinds) {
    if (order >= __ATOMIC_RELEASE && kinds) ks_fence(kinds);
}
#define __builtin_amdgcn_fence(order, ...) \
    (ks_release((order), ks_scope(__VA_ARGS__)), __atomic_signal_fence(__ATOMIC_SEQ_CST))
#define __scoped_atomic_thread_fence(order, scope) \
    (ks_release((order), (scope) > 2 ? 0 : (scope) > 1 ? 3 : 7), __atomic_signal_fence(__ATOMIC_SEQ_CST))
#define __atomic_thread_fence(order) (ks_release((order), 7), __atomic_signal_fence(__ATOMIC_SEQ_CST))
#define __c11_atomic_thread_fence(order) (ks_release((order), 7), __atomic_signal_fence(__ATOMIC_SEQ_CST))
#define __sync_synchronize() (ks_release(__ATOMIC_SEQ_CST, 7), __atomic_signal_fence(__ATOMIC_SEQ_CST))
KS_INLINE void __builtin_amdgcn_s_barrier() { ks_barrier(); }
KS_INLINE void __builtin_amdgcn_wave_barrier() { ks_wave(KS_WAVE_BARRIER, 0, 0); }
KS_INLINE void __builtin_amdgcn_s_sleep(int) { ks_sleep(); }
KS_INLINE void __builtin_amdgcn_s_setprio(short) {}
KS_INLINE void __builtin_amdgcn_s_waitcnt(int n) {
    ks_fence((n >> 8 & 15 ? 0u : 1u) | ((n & 15) | (n >> 10 & 48) ? 0u : 2u));
}
KS_INLINE void __builtin_amdgcn_sched_barrier(int) {}
KS_INLINE void __builtin_amdgcn_sched_group_barrier(int, int, int) {}
KS_INLINE void __builtin_amdgcn_iglp_opt(int) {}
KS_INLINE unsigned __builtin_amdgcn_s_getreg(int) { return 0; }
#define __builtin_amdgcn_s_memtime() __builtin_readcyclecounter()
#define __builtin_amdgcn_s_memrealtime() __builtin_readcyclecounter()
#define __builtin_trap() ks_trap()
#define __builtin_amdgcn_endpgm() ks_trap()

KS_INLINE int __builtin_amdgcn_ds_bpermute(int address, int value) {
    return (int)ks_wave(KS_BPERMUTE, (unsigned)address, (unsigned)value);
}
KS_INLINE int __builtin_amdgcn_ds_permute(int address, int value) {
    return (int)ks_wave(KS_PERMUTE, (unsigned)address, (unsigned)value);
}
KS_INLINE int __builtin_amdgcn_ds_swizzle(int value, int pattern) {
    return (int)ks_wave(KS_SWIZZLE, (unsigned)value, (unsigned)pattern & 0xFFFF);
}
KS_INLINE int __builtin_amdgcn_readlane(int value, int lane) {
    return (int)ks_wave(KS_READLANE, (unsigned)value, (unsigned)lane);
}
KS_INLINE int __builtin_amdgcn_readfirstlane(int value) { return (int)ks_wave(KS_READFIRSTLANE, (unsigned)value, 0); }
KS_INLINE unsigned long __builtin_amdgcn_ballot_w64(bool predicate) { return ks_wave(KS_BALLOT, predicate, 0); }
KS_INLINE unsigned long __builtin_amdgcn_read_exec() { return ks_wave(KS_EXEC, 0, 0); }
KS_INLINE unsigned __builtin_amdgcn_read_exec_lo() { return (unsigned)ks_wave(KS_EXEC, 0, 0); }
KS_INLINE unsigned __builtin_amdgcn_read_exec_hi() { return (unsigned)(ks_wave(KS_EXEC, 0, 0) >> 32); }
KS_INLINE int __builtin_amdgcn_update_dpp(int old, int value, int control, int rows, int banks, bool zero) {
    return (int)ks_wave(KS_DPP, (unsigned long)(unsigned)old << 32 | (unsigned)value,
                        (unsigned long)(control & 0xFFFF) | (unsigned long)(rows & 15) << 16 |
                            (unsigned long)(banks & 15) << 20 | (unsigned long)zero << 24);
}
KS_INLINE int __builtin_amdgcn_mov_dpp(int value, int control, int rows, int banks, bool zero) {
    return __builtin_amdgcn_update_dpp(0, value, control, rows, banks, zero);
}
KS_INLINE unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned add) {
    unsigned lane = ks_lane_number();
    return add + __builtin_popcount(lane >= 32 ? mask : mask & ((1u << lane) - 1));
}
KS_INLINE unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned add) {
    unsigned lane = ks_lane_number();
    return add + (lane <= 32 ? 0 : __builtin_popcount(mask & ((1u << (lane - 32)) - 1)));
}
template <class... T> KS_INLINE int ks_printf(const T&...) { return 0; }

#endif
