// What a wave has issued and not waited for: memory operations in order of issue, and the registers they will write.
#pragma once
#include <stdint.h>

#include "program.h"

namespace machine {

enum Counter : uint8_t { kCountsVector = 1, kCountsScalar = 2 };  // vmcnt, lgkmcnt; flat instructions count at both

enum OperationKind : uint8_t {
    kUsualOperation = 0,
    kScalarLoad = 1,        // and whatever else comes back in any order (s_memtime, messages): only lgkmcnt(0) tells
    kFlat = 2,              // may have gone to LDS or to memory: in no order to other LDS operations
    kTouchesLds = 4,        // ds_ instructions, flat ones that met LDS
    kDirectToLds = 8,       // buffer_load ... lds, global_load_lds_: vmcnt tells when LDS is written
    kWriteback = 16,        // buffer_wbl2
    kAtomicOperation = 32,  // of global memory; set by the model
};

constexpr uint32_t kScalarResult = 1u << 31;  // in `result`: the registers are scalar ones

// An instruction that was issued.
struct Operation {
    uint32_t tick;    // its moment in its workgroup, see memory_model.h
    uint32_t serial;  // its number in its wave
    uint32_t instruction;
    uint32_t result;  // the first register that it writes, or kNowhere
    uint8_t results;  // how many
    uint8_t kind, counters;
};

constexpr uint32_t kMostOutstanding = 63;  // as far as vmcnt counts; the hardware waits before more are issued
constexpr uint32_t kMostScalarOutstanding = 15;
constexpr uint32_t kQueue = 64;

struct OperationQueue {
    Operation operation[kQueue];
    uint32_t first, count;

    const Operation& oldest(uint32_t i) const { return operation[(first + i) % kQueue]; }
    void push(const Operation& each) { operation[(first + count++) % kQueue] = each; }
    Operation pop() {
        const Operation each = operation[first];
        first = (first + 1) % kQueue;
        count--;
        return each;
    }
};

// Groups of 8 vector and of 4 scalar registers, a bit each.
struct RegisterGroups {
    uint64_t vector, scalar;

    void add_vector(uint32_t first, uint32_t count) { vector |= bits(first >> 3, (first + count - 1) >> 3); }
    void add_scalar(uint32_t first, uint32_t count) { scalar |= bits(first >> 2, (first + count - 1) >> 2); }
    bool meet(const RegisterGroups& others) const { return (vector & others.vector) | (scalar & others.scalar); }

  private:
    static uint64_t bits(uint32_t first, uint32_t last) {  // the last bit stands for all that come after it
        const uint32_t from = first < 63 ? first : 63, to = last < 63 ? last : 63;
        return (1ull << to << 1) - (1ull << from);
    }
};

struct Pending {
    uint64_t vector[9];  // a bit for each vector register that an operation under way writes; the last word is empty
    uint64_t scalar[4];
    RegisterGroups groups;  // of those registers
    bool any;               // whether any bit is set: the run loop asks for this, and calls check_pending only then
    uint32_t touching_lds, direct;  // operations in the queues that touch LDS, that load straight into it
    uint32_t serial;                // of the next operation
    uint32_t fence;                 // the moment of the wave's last note_fence()
    OperationQueue memory, local;   // counted by vmcnt; by lgkmcnt
};

}  // namespace machine
