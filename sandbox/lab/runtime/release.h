// Which workgroups a workgroup knows to be ahead of it: through the places where it looked at what they released.
#pragma once
#include <stdint.h>

namespace ks {

struct Worker;

void prepare_releases();
void forget_others(Worker& worker);  // a workgroup begins
// An atomic access of a place by the running workgroup, `group`. One that writes passes on all that the workgroup knows,
// and what it did up to its last fence at device scope, `fence` (0: none), on its own clock.
void meet_at(Worker& worker, uint64_t place, uint64_t group, uint64_t fence, bool reads, bool writes);
// Whether the running workgroup is behind what another one did at a moment of that one's clock.
bool is_behind(Worker& worker, uint64_t group, uint64_t clock);
// Whether more places were used as flags than can be followed: a workgroup may be ahead without being known to be.
bool has_lost_orders();

}  // namespace ks
