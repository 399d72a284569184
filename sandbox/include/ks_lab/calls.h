// The calls a candidate's host build makes into the lab's runtime. Shared by both sides; plain enough for each.
#ifndef KS_LAB_CALLS_H
#define KS_LAB_CALLS_H

enum KsWaveOp : unsigned {
    KS_BPERMUTE,
    KS_PERMUTE,
    KS_SWIZZLE,
    KS_READLANE,
    KS_READFIRSTLANE,
    KS_DPP,
    KS_BALLOT,
    KS_WAVE_BARRIER,
    KS_MATRIX,
    KS_EXEC,
    KS_WAVE_OPS
};

enum KsType : unsigned { KS_F64, KS_F32, KS_XF32, KS_F16, KS_BF16, KS_FP8, KS_BF8, KS_I8 };

// One dense matrix instruction: element types, shape, blocks; packed so that it is an immediate at the call.
#define KS_SHAPE(ta, tb, m, k, blocks) \
    ((unsigned)(ta) | (unsigned)(tb) << 4 | (unsigned)(m) << 8 | (unsigned)(k) << 16 | (unsigned)(blocks) << 24)

#define KS_CALL extern "C" __attribute__((convergent, noduplicate, nomerge))

KS_CALL unsigned long ks_wave(unsigned op, unsigned long a, unsigned long b);
// d holds C on entry and D on return; modifiers = cbsz | abid << 4 | blgp << 8.
KS_CALL void ks_matrix(unsigned shape, unsigned modifiers, const void* a, const void* b, void* d);
// Sparse: the shape word's top bit is set; `index` says which elements along k A holds.
KS_CALL void ks_sparse_matrix(unsigned shape, unsigned modifiers, unsigned index, const void* a, const void* b,
                              void* d);
// The caller saves its registers: it knows which ones it needs behind the barrier.
KS_CALL __attribute__((preserve_none)) void ks_barrier();
extern "C" void ks_sleep();
// One work-item of each workgroup waits until one of every other workgroup does.
extern "C" void ks_grid_sync();
// What the work-item waits for or makes visible: 1 its LDS accesses, 2 those of buffers, 4 to other workgroups;
// 8: the next atomic access is none for other workgroups; 16: a barrier follows at once (only sealed_calls.py says so).
#ifdef KS_PLAIN  // without checks
static inline void ks_fence(unsigned) {}
#else
extern "C" void ks_fence(unsigned kinds);
#endif
// The mask of a _sync function: the lane itself must be in it.
extern "C" void ks_mask(unsigned long mask);
// Both give back the address; what follows uses that one.
extern "C" void* ks_atomic(const volatile void* address, unsigned long size);
extern "C" void* ks_touch(const volatile void* address, unsigned long size, int write);
extern "C" __attribute__((noreturn)) void ks_trap();
// Ends the running work-item: null when another one was set up to run on this stack, else the stack to go on with.
extern "C" void* ks_next();
// Goes on where the work-item of that stack stopped.
extern "C" __attribute__((noreturn)) void ks_leave(void* stack);
extern "C" int ks_is_shared(const volatile void* address);
extern "C" int ks_is_private(const volatile void* address);
extern "C" void ks_lds_load(const volatile void* from, volatile void* to, unsigned long size);

#endif
