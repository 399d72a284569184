// Work-item and workgroup numbers, read from the thread block that the runtime sets. The reads are opaque to the
// compiler but have no side effect, so it keeps one per function.
#ifndef KS_LAB_IDS_H
#define KS_LAB_IDS_H

#ifndef KS_WAVE
#define KS_WAVE 64
#endif

#define KS_ID(name, offset)                                           \
    KS_INLINE unsigned name() {                                       \
        unsigned value;                                               \
        __asm__("movl %%fs:ks_ids@tpoff+" #offset ", %0" : "=r"(value)); \
        return value;                                                 \
    }
KS_ID(__builtin_amdgcn_workitem_id_x, 0)
KS_ID(__builtin_amdgcn_workitem_id_y, 4)
KS_ID(__builtin_amdgcn_workitem_id_z, 8)
KS_ID(__builtin_amdgcn_workgroup_id_x, 12)
KS_ID(__builtin_amdgcn_workgroup_id_y, 16)
KS_ID(__builtin_amdgcn_workgroup_id_z, 20)
KS_ID(__builtin_amdgcn_workgroup_size_x, 24)
KS_ID(__builtin_amdgcn_workgroup_size_y, 28)
KS_ID(__builtin_amdgcn_workgroup_size_z, 32)
KS_ID(ks_grid_dim_x, 36)
KS_ID(ks_grid_dim_y, 40)
KS_ID(ks_grid_dim_z, 44)
#undef KS_ID

KS_INLINE unsigned __builtin_amdgcn_grid_size_x() { return ks_grid_dim_x() * __builtin_amdgcn_workgroup_size_x(); }
KS_INLINE unsigned __builtin_amdgcn_grid_size_y() { return ks_grid_dim_y() * __builtin_amdgcn_workgroup_size_y(); }
KS_INLINE unsigned __builtin_amdgcn_grid_size_z() { return ks_grid_dim_z() * __builtin_amdgcn_workgroup_size_z(); }
KS_INLINE unsigned ks_lane_number() {
    unsigned x = __builtin_amdgcn_workgroup_size_x(), y = __builtin_amdgcn_workgroup_size_y();
    return (__builtin_amdgcn_workitem_id_x() + x * (__builtin_amdgcn_workitem_id_y() + y * __builtin_amdgcn_workitem_id_z())) & (KS_WAVE - 1);
}
#define __builtin_amdgcn_wavefrontsize() (KS_WAVE + 0u)

#endif
