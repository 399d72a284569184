// The figures of a device that a timeline needs, in the order of sandbox/lab/cost/clock.py: clocks, and bytes a clock.
#pragma once
#include <stdint.h>
#include <string.h>

namespace machine {

#define CLOCK_FIELDS(X)                                                                                                \
    X(issue)          /* from a vector instruction to the next one of its wave */                                      \
    X(matrix_issue)   /* from a matrix instruction */                                                                  \
    X(scalar_issue)   /* from a scalar one, a branch, a wait */                                                        \
    X(lds_issue)      /* from one of the LDS */                                                                        \
    X(memory_issue)   /* from one of global or scalar memory */                                                        \
    X(slot)           /* between two instructions of one category on a SIMD */                                         \
    X(vector_latency) /* from a vector instruction to one that reads its result */                                     \
    X(matrix_latency) /* more than its passes, until another instruction reads the result */                           \
    X(scalar_latency) /* of a scalar load */                                                                           \
    X(branch)         /* of one that is taken */                                                                       \
    X(barrier)        /* from the last arrival on */                                                                   \
    X(lds_latency)    /* */                                                                                            \
    X(lds_ports)      /* of a unit */                                                                                  \
    X(lds_queue)      /* clocks that a port may lie behind before a wave waits to issue */                             \
    X(address_queue)  /* the same of the address unit */                                                               \
    X(l1_bytes)       /* */                                                                                            \
    X(l1_latency)     /* */                                                                                            \
    X(l2_latency)     /* */                                                                                            \
    X(mall_latency)   /* */                                                                                            \
    X(hbm_latency)    /* */                                                                                            \
    X(unit_l2)        /* bytes a clock that one unit gets at most from the L2, */                                      \
    X(unit_mall)      /* from the Infinity Cache, */                                                                   \
    X(unit_hbm)       /* and from memory */                                                                            \
    X(chip_l2)        /* bytes a clock of all L2s, */                                                                  \
    X(chip_mall)      /* of the Infinity Cache, */                                                                     \
    X(chip_hbm)       /* and of the memory */                                                                          \
    X(burst)    /* clocks of its share of the chip that a unit may use at once: others do not want theirs just then */ \
    X(l2_bytes) /* of a chiplet */                                                                                     \
    X(mall_bytes)    /* */                                                                                             \
    X(chiplets)      /* */                                                                                             \
    X(partial_write) /* bytes that memory moves for each byte of a line that is written in part */                     \
    X(start)         /* from a workgroup's end to the first instruction of the next */                                 \
    X(dispatch)      /* between two workgroups of a chiplet */                                                         \
    X(most_steps)    /* wave instructions of a timeline */

struct Clock {
#define X(name) double name;
    CLOCK_FIELDS(X)
#undef X
};

constexpr uint64_t kClockWords = sizeof(Clock) / 8;

// What a launch gives a unit: workgroups at once, on the busiest one, in all; units at work.
struct Residency {
    double resident, workgroups, blocks, units;
};

constexpr uint64_t kResidencyWords = sizeof(Residency) / 8;

}  // namespace machine
