#include "stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

namespace machine {

namespace {

constexpr uint64_t kMostTouches = 1 << 20, kMostLines = 1 << 23;
constexpr uint32_t kScratchRegion = 0x3FFF;  // of lines: no buffer's

const Request* g_request;
Streams g_streams;
pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

Touch* touch_of(GroupStream& stream, const Wave& wave) {
    WaveStream& own = stream.wave[wave.number];
    if (!own.is_keeping) return nullptr;
    Step& step = own.step[own.kept - 1];
    if (step.touch != kNowhere) return &stream.touch[step.touch];
    if (stream.touches == kMostTouches) return nullptr;
    step.touch = (uint32_t)stream.touches++;
    stream.touch[step.touch] = {(uint32_t)stream.lines, 0, 0, 0, 0, TouchKind::load};
    return &stream.touch[step.touch];
}

// Keeps every second of the windows.
void thin_out(WaveStream& wave) {
    uint64_t kept = 0;
    for (uint64_t from = 0; from < wave.kept; from += 2 * kWindow, kept += kWindow)
        memmove(wave.step + kept, wave.step + from, kWindow * sizeof(Step));
    wave.kept = kept;
    wave.stride *= 2;
}

}  // namespace

uint32_t LineAges::touch(uint64_t line, uint32_t bytes) {
    LineAge* const known = of_line.at(line);
    const uint32_t last = known ? known->touched : 0;
    if (!last) fresh++;
    if (!known) return 0;
    known->written += bytes;
    known->touched = fresh;
    const uint32_t since = fresh - last;
    return !last ? 0 : 1 + (since ? 32 - (uint32_t)__builtin_clz(since) : 0);
}

void prepare_streams(const Request& request, const Program& program) {
    g_request = &request;
    if (!request.head.stream_steps) return;
    g_streams.launches = request.head.launches;
    g_streams.line_bytes = request.head.line_bytes;
    g_streams.regions = g_memory.count < kMaxRegions ? g_memory.count : kMaxRegions;
    for (uint32_t r = 0; r < g_streams.regions; r++) g_streams.region_bytes[r] = g_memory.region[r].size;
    g_streams.launch = (LaunchStream*)pages(sizeof(LaunchStream) * (request.head.launches + 1));
    for (uint64_t i = 0; i < request.head.launches; i++) {
        LaunchStream& stream = g_streams.launch[i];
        memcpy(&stream.residency, request.clock + kClockWords + i * kResidencyWords, sizeof(Residency));
        memcpy(stream.grid, request.launches[i].grid, sizeof stream.grid);
        stream.scratch_bytes = program.kernels[request.launches[i].kernel].scratch_bytes;
    }
}

Streams& all_streams() { return g_streams; }

const Streams* kept_streams() { return g_streams.launch ? &g_streams : nullptr; }

static void make_room(GroupStream& stream) {
    const uint64_t windows = g_request->head.stream_steps / stream.waves / (2 * kWindow);
    stream.most_steps = (windows ? windows : 1) * 2 * kWindow;
    for (uint32_t i = 0; i < stream.waves; i++)
        stream.wave[i] = {(Step*)pages(stream.most_steps * sizeof(Step)), 0, 0, 1, false};
    stream.touch = (Touch*)pages(kMostTouches * sizeof(Touch));
    stream.line = (uint64_t*)pages(kMostLines * sizeof(uint64_t));
}

GroupStream* open_stream(uint32_t launch, const Workgroup& group) {
    if (!g_streams.launch) return nullptr;
    LaunchStream& streams = g_streams.launch[launch];
    pthread_mutex_lock(&g_mutex);
    GroupStream* stream = nullptr;
    for (uint32_t i = 0; i < streams.groups && !stream; i++)
        if (streams.group[i].is_idle) stream = &streams.group[i];
    if (!stream && streams.groups < kMostStreams) stream = &streams.group[streams.groups++];
    if (stream) stream->is_idle = false;
    pthread_mutex_unlock(&g_mutex);
    if (!stream) return nullptr;
    stream->linear = group.linear;
    stream->waves = group.waves;
    if (!stream->line) make_room(*stream);
    return stream;
}

void note_step(GroupStream& stream, const Wave& wave) {
    WaveStream& own = stream.wave[wave.number];
    own.is_keeping = own.executed++ / kWindow % own.stride == 0;
    if (own.is_keeping && own.kept == stream.most_steps) {
        thin_out(own);
        own.is_keeping = (own.executed - 1) / kWindow % own.stride == 0;
    }
    if (own.is_keeping) own.step[own.kept++] = {wave.at, kNowhere};
}

void note_touch(GroupStream& stream, const Wave& wave, TouchKind kind, const SiteCounts& counts, uint32_t lanes) {
    Touch* touch = touch_of(stream, wave);
    if (!touch) return;
    touch->kind = kind;
    touch->unit_clocks += (uint32_t)counts.unit_cycles;
    touch->port_clocks += (uint32_t)counts.port_cycles;
    const uint64_t dwords = counts.bytes / 4 ? counts.bytes / 4 : 1;
    touch->alike += (uint32_t)((lanes + dwords - 1) / dwords);
}

void note_line(GroupStream& stream, const Wave& wave, uint64_t line, bool stores, uint32_t written) {
    const uint64_t region = line >> kLineRegion;
    const uint32_t age = stream.ages.touch(line, written);
    if (!age && region < kMaxRegions) stream.fresh[stores][region]++;
    Touch* touch = touch_of(stream, wave);
    if (!touch || stream.lines == kMostLines) return;
    stream.line[stream.lines++] = line | (uint64_t)age << kLineAge;
    touch->lines++;
}

void note_scalar_load(GroupStream& stream, const Wave& wave, uint32_t region, uint64_t offset, uint32_t bytes) {
    const uint64_t line_bytes = g_request->head.line_bytes;
    note_touch(stream, wave, TouchKind::load, SiteCounts{}, 1);
    for (uint64_t line = offset / line_bytes; line <= (offset + bytes - 1) / line_bytes; line++)
        note_line(stream, wave, (uint64_t)region << kLineRegion | line, false, 0);
}

void note_scratch(GroupStream& stream, const Wave& wave, const Place& place, Access access, uint32_t bytes) {
    const uint32_t dwords = (bytes + 3) / 4;
    SiteCounts counts = {};
    counts.unit_cycles = 4 * dwords;
    const bool is_load = access == Access::load;
    note_touch(stream, wave, is_load ? TouchKind::scratch_load : TouchKind::scratch_store, counts,
               (uint32_t)__builtin_popcountll(place.lanes));
    if (!place.lanes) return;
    const uint64_t first = place.offset[__builtin_ctzll(place.lanes)] / 4;
    const uint64_t line_bytes = g_request->head.line_bytes, of_dword = 4 * kLanes / line_bytes;
    for (uint64_t i = first * of_dword; i < (first + dwords) * of_dword; i++)
        note_line(stream, wave, (uint64_t)kScratchRegion << kLineRegion | (uint64_t)wave.number << 32 | i, !is_load, 0);
}

// The stream's memory is the next workgroup's: of a launch all have as many waves.
static void leave_to_another(GroupStream& stream) {
    stream.ages.of_line.clear();
    stream.ages.fresh = 0;
    for (uint32_t i = 0; i < stream.waves; i++) stream.wave[i] = {stream.wave[i].step, 0, 0, 1, false};
    memset(stream.fresh, 0, sizeof stream.fresh);
    pthread_mutex_lock(&g_mutex);
    stream.touches = stream.lines = 0;
    stream.is_idle = true;
    pthread_mutex_unlock(&g_mutex);
}

void close_stream(GroupStream& stream, const Workgroup& group) {
    if (is_idle(group)) return leave_to_another(stream);
    for (uint64_t t = 0; t < stream.touches; t++) {
        const Touch& touch = stream.touch[t];
        if (touch.kind != TouchKind::store) continue;
        for (uint32_t i = 0; i < touch.lines; i++) {
            uint64_t& line = stream.line[touch.first_line + i];
            const LineAge* const known = stream.ages.of_line.find(line & kPlainLine);
            if (known && known->written < g_request->head.line_bytes) line |= kPartialLine;
        }
    }
    stream.ages.of_line.close();
}

void settle_stream(uint32_t launch, double busy) {
    if (!g_streams.launch) return;
    LaunchStream& streams = g_streams.launch[launch];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < streams.groups; i++)
        if (!streams.group[i].is_idle) streams.group[kept++] = streams.group[i];
    streams.groups = kept;
    // By number: which worker was first must not decide how they follow one another in a timeline.
    for (uint32_t i = 1; i < kept; i++)
        for (uint32_t j = i; j && streams.group[j].linear < streams.group[j - 1].linear; j--) {
            const GroupStream later = streams.group[j];
            streams.group[j] = streams.group[j - 1], streams.group[j - 1] = later;
        }
    const double workgroups = streams.residency.workgroups * busy;
    streams.residency.blocks *= busy;
    streams.residency.workgroups = workgroups > 1 ? workgroups : 1;
}

}  // namespace machine
