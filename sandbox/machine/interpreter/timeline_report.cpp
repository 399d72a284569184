#include <stdlib.h>

#include "stream_file.h"
#include "timeline.h"

namespace machine {

namespace {

constexpr uint32_t kMostPlaces = 48, kHotLines = 1 << 12;

using Number = unsigned long long;

void write_numbers(FILE* out, const char* name, const double* values, uint32_t count) {
    fprintf(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) fprintf(out, "%s%llu", i ? "," : "", (Number)values[i]);
    fprintf(out, "]");
}

double stalled(const Timeline& line, uint64_t at) {
    double sum = 0;
    for (uint32_t i = 0; i < kStalls; i++) sum += line.stall[kStalls * at + i];
    return sum;
}

// The instructions at which waves spend most of their time, the worst first.
void write_places(FILE* out, const Timeline& line, uint64_t instructions) {
    double* const sums = (double*)calloc(instructions + 1, sizeof(double));
    if (!sums) die("no memory for the timeline");
    for (uint64_t i = 0; i < instructions; i++) sums[i] = stalled(line, i);
    fprintf(out, "\"places\":[");
    for (uint32_t n = 0; n < kMostPlaces; n++) {
        uint64_t worst = 0;
        for (uint64_t i = 1; i < instructions; i++)
            if (sums[i] > sums[worst]) worst = i;
        if (sums[worst] < 1) break;
        fprintf(out, "%s[%llu", n ? "," : "", (Number)worst);
        for (uint32_t i = 0; i < kStalls; i++) fprintf(out, ",%llu", (Number)line.stall[kStalls * worst + i]);
        fprintf(out, "]");
        sums[worst] = 0;
    }
    fprintf(out, "]");
    free(sums);
}

void write_timeline(FILE* out, const Timeline& line, uint64_t instructions) {
    fprintf(out, "{");
    write_numbers(out, "ends", line.end, line.ends);
    fprintf(out, ",");
    write_numbers(out, "waits", line.busy, kStalls);
    fprintf(out, ",");
    write_numbers(out, "bytes", line.bytes, 3);
    fprintf(out, ",");
    write_numbers(out, "work", line.work, kWorks);
    fprintf(out, ",\"steps\":%llu,", (Number)line.steps);
    write_places(out, line, instructions);
    fprintf(out, "}");
    free(line.stall);
}

// Atomic operations on one line that follow one another, by the workgroups that are kept: the L2 does those on different
// dwords of a line at once.
struct HotLine {
    uint64_t line;
    double operations, exchanges;  // exchanges: those that are tried again where another came between
    uint32_t last_group, groups;
};

class HotLines {
  public:
    HotLines() : lines_((HotLine*)calloc(kHotLines, sizeof(HotLine))) {
        if (!lines_) die("no memory for the timeline");
    }
    ~HotLines() { free(lines_); }
    HotLines(const HotLines&) = delete;
    HotLines& operator=(const HotLines&) = delete;

    void add(const GroupStream& group, uint32_t number, const Touch& touch, double each, bool is_exchange) {
        for (uint32_t i = 0; i < touch.lines; i++) {
            const uint64_t line = (group.line[touch.first_line + i] & kPlainLine) + 1;
            HotLine& hot = lines_[(line * 0x9E3779B97F4A7C15ull) >> 52];
            if (!hot.line) hot.line = line;
            if (hot.line != line) continue;  // of so many lines, none is hot
            hot.operations += each * touch.alike;
            if (is_exchange) hot.exchanges += each * touch.alike;
            if (hot.last_group != number + 1) hot.groups++;
            hot.last_group = number + 1;
        }
    }
    // Operations of all workgroups on the line that most of them go to, and exchanges.
    HotLine hottest(const LaunchStream& stream) const {
        HotLine found = {};
        for (uint32_t i = 0; i < kHotLines; i++) {
            const double blocks = stream.residency.blocks;
            const bool is_everybodys = lines_[i].groups > 1 || blocks < 2;
            const double times = (is_everybodys ? blocks : 1) / (stream.groups ? stream.groups : 1);
            found.operations = most(found.operations, lines_[i].operations * times);
            found.exchanges = most(found.exchanges, lines_[i].exchanges * times);
        }
        return found;
    }

  private:
    HotLine* lines_;
};

HotLine hottest(const LaunchStream& stream, const Program& program) {
    HotLines lines;
    for (uint32_t g = 0; g < stream.groups; g++) {
        const GroupStream& group = stream.group[g];
        for (uint32_t w = 0; w < group.waves; w++) {
            const WaveStream& wave = group.wave[w];
            const double each = wave.kept ? (double)wave.executed / (double)wave.kept : 0;  // of long streams
            for (uint64_t s = 0; s < wave.kept; s++) {
                const Step& step = wave.step[s];
                if (step.touch == kNowhere || group.touch[step.touch].kind != TouchKind::atomic) continue;
                const char* name = program.names + program.code[step.at].semantics * kNameBytes;
                lines.add(group, g, group.touch[step.touch], each, strstr(name, "cmpswap") != nullptr);
            }
        }
    }
    return lines.hottest(stream);
}

}  // namespace

void print_clock() {
#define X(name) puts(#name);
    CLOCK_FIELDS(X)
    puts("");
    STALL_CAUSES(X)
    puts("");
    UNIT_WORK(X)
#undef X
}

void write_timelines(FILE* out, const Streams& streams, const Clock& clock, const Program& program, uint32_t launch) {
    const LaunchStream& stream = streams.launch[launch];
    double steps = 0;
    for (uint32_t g = 0; g < stream.groups; g++)
        for (uint32_t w = 0; w < stream.group[g].waves; w++) steps += (double)stream.group[g].wave[w].kept;
    if (!steps) {
        fprintf(out, "null");
        return;
    }
    static TimedInstruction* rows;
    if (!rows) rows = timed_program(program);
    const TimelineSetting setting = {program, rows, streams, launch, clock};
    fprintf(out, "{\"cold\":");
    write_timeline(out, timeline_of(setting, false), program.head.instructions);
    fprintf(out, ",\"warm\":");
    write_timeline(out, timeline_of(setting, true), program.head.instructions);
    const HotLine hot = hottest(stream, program);
    fprintf(out, ",\"hottest\":%llu,\"exchanges\":%llu}", (Number)hot.operations, (Number)hot.exchanges);
}

int run_timelines(const char* program, const char* streams, const char* clock) {
    static Program decoded;
    read_program(program, decoded);
    const Streams kept = load_streams(streams, decoded);
    const Clock figures = load_clock(clock);
    printf("[");
    for (uint32_t i = 0; i < kept.launches; i++) {
        if (i) printf(",\n");
        write_timelines(stdout, kept, figures, decoded, i);
    }
    printf("]\n");
    return 0;
}

}  // namespace machine
