// Work-item and workgroup numbers, read from the thread block that the runtime sets. To the compiler a read depends on
// memory, so it keeps one until a call may have switched to another work-item; checks do not see it.
#ifndef KS_LAB_IDS_H
#define KS_LAB_IDS_H

#ifndef KS_WAVE
#define KS_WAVE 64
#endif

extern "C" constinit thread_local unsigned ks_ids[18];  // see runtime/workgroup.h

#define KS_ID(name, number, T)                                      \
    KS_INLINE T name() {                                            \
        unsigned value;                                             \
        __asm__("movl %1, %0" : "=r"(value) : "m"(ks_ids[number])); \
        return (T)value;                                            \
    }
KS_ID(__builtin_amdgcn_workitem_id_x, 0, unsigned)
KS_ID(__builtin_amdgcn_workitem_id_y, 1, unsigned)
KS_ID(__builtin_amdgcn_workitem_id_z, 2, unsigned)
KS_ID(__builtin_amdgcn_workgroup_id_x, 4, unsigned)
KS_ID(__builtin_amdgcn_workgroup_id_y, 5, unsigned)
KS_ID(__builtin_amdgcn_workgroup_id_z, 6, unsigned)
KS_ID(__builtin_amdgcn_workgroup_size_x, 8, unsigned short)
KS_ID(__builtin_amdgcn_workgroup_size_y, 9, unsigned short)
KS_ID(__builtin_amdgcn_workgroup_size_z, 10, unsigned short)
KS_ID(ks_grid_dim_x, 12, unsigned)
KS_ID(ks_grid_dim_y, 13, unsigned)
KS_ID(ks_grid_dim_z, 14, unsigned)
#undef KS_ID

KS_INLINE unsigned __builtin_amdgcn_grid_size_x() { return ks_grid_dim_x() * __builtin_amdgcn_workgroup_size_x(); }
KS_INLINE unsigned __builtin_amdgcn_grid_size_y() { return ks_grid_dim_y() * __builtin_amdgcn_workgroup_size_y(); }
KS_INLINE unsigned __builtin_amdgcn_grid_size_z() { return ks_grid_dim_z() * __builtin_amdgcn_workgroup_size_z(); }
KS_INLINE unsigned ks_lane_number() {
    unsigned x = __builtin_amdgcn_workgroup_size_x(), y = __builtin_amdgcn_workgroup_size_y();
    return (__builtin_amdgcn_workitem_id_x() +
            x * (__builtin_amdgcn_workitem_id_y() + y * __builtin_amdgcn_workitem_id_z())) &
           (KS_WAVE - 1);
}
KS_INLINE unsigned __builtin_amdgcn_wavefrontsize() { return KS_WAVE; }

#endif
