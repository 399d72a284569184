// The streams of an execution in a file, so that timelines with other clocks are made from them without executing again.
#pragma once
#include "stream.h"

namespace machine {

// Maps stream.bin in the folder; where there is none, nothing is saved.
void open_stream_file(const char* folder);
// Dies where the file is too small.
void save_streams(const Streams& streams);
// Dies where the file is not one that save_streams() left, or is of a program with fewer instructions.
Streams load_streams(const char* path, const Program& program);
Clock load_clock(const char* path);

}  // namespace machine
