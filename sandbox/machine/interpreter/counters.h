// What a profiler would count of the workgroups that are recorded, by instruction.
#pragma once
#include <stdio.h>

#include "places.h"
#include "request.h"

namespace machine {

struct Recorder;

void prepare_counters(const Request& request, const Program& program);
Recorder* open_recorder(Worker& worker, uint32_t launch);
void close_recorder(Worker& worker, const Workgroup& group);
void count_access(Recorder& recorder, const Wave& wave, Segment segment, const Place& place, Access access,
                  uint32_t bytes);
void write_counters(FILE* out, uint32_t launch);

}  // namespace machine
