#include "report.h"

#include "deadline.h"
#include "findings.h"
#include "memory_model.h"
#include "places.h"
#include "workgroup.h"

namespace machine {

namespace {

// What a finding says of the space that an address belongs to; see sandbox/lab/sentences.py.
enum Told : uint64_t { kNothing, kNearBuffer, kInLds, kNullPointer, kInImage, kInPrivate, kInCode = 10 };

void describe(Finding& finding, const Wave& wave, int lane) {
    const Workgroup& group = *wave.group;
    const uint64_t item = wave.number * 64ull + (uint64_t)lane;
    const uint64_t* block = group.launch->block;
    finding.launch = group.launch_index;
    for (int d = 0; d < 3; d++) finding.block[d] = group.id[d];
    finding.thread[0] = (uint32_t)(item % block[0]);
    finding.thread[1] = (uint32_t)(item / block[0] % block[1]);
    finding.thread[2] = (uint32_t)(item / block[0] / block[1]);
    finding.place[0] = wave.at + 1ull;
    finding.region = kNoRegion;
}

void end(Wave& wave, const Finding& finding) {
    add_finding(finding);
    wave.state = kEnded;
    wave.group->failed = true;
}

int first_of(uint64_t lanes) { return lanes ? __builtin_ctzll(lanes) : 0; }

// Races and their like: the model says which accesses they are.
void describe_conflict(Finding& finding, const Conflict& conflict) {
    finding.write = conflict.is_write;
    finding.size = conflict.bytes;
    finding.offset = (int64_t)conflict.offset;
    finding.region = conflict.is_global ? g_memory.region[conflict.region].number : kNoRegion;
    const uint64_t relation = conflict.relation <= kSameWave ? 0 : conflict.relation - 1;
    finding.detail = conflict.hazard | relation << 4 | (uint64_t)conflict.is_global << 8 |
                     (uint64_t)conflict.is_lost << 9 | (uint64_t)conflict.is_relaxed << 10 |
                     (uint64_t)conflict.is_stale << 11;  // see sandbox/lab/hazards.py
    finding.other[0] = conflict.other_lane == kNowhere ? 0 : conflict.other_wave * 64ull + conflict.other_lane;
    finding.other[1] = conflict.other_group;
    finding.place[0] = conflict.place + 1ull;
    if (conflict.other_place != kNowhere) finding.place[1] = conflict.other_place + 1ull;
}

bool is_conflict(FindingKind kind) { return kind == kRace || kind == kUndrained; }

}  // namespace

void report(Wave& wave, FindingKind kind, uint64_t lanes, uint64_t detail, uint32_t origin) {
    Finding finding = {};
    finding.kind = kind;
    finding.detail = detail;
    describe(finding, wave, first_of(lanes));
    if (origin != kNowhere) finding.place[1] = origin + 1ull;
    const Conflict& conflict = wave.group->model.conflict;
    if (is_conflict(kind) && conflict.kind == kind) describe_conflict(finding, conflict);
    if (kind == kOutOfBounds) finding.detail = kInCode, finding.address = detail;
    end(wave, finding);
}

// A value that a lane took from one which was masked off.
static bool comes_from_another_lane(const Wave& wave, uint32_t origin) {
    return origin != kNowhere && (wave.program->is_exchange[origin] || wave.program->code[origin].flags & kDpp);
}

void report_undefined(Wave& wave, uint64_t lanes, uint32_t origin) {
    Workgroup& group = *wave.group;
    if (group.uses_undefined || !group.worker->request->head.checks) return;
    Finding& finding = group.undefined;
    finding = {};
    finding.kind = comes_from_another_lane(wave, origin) ? kDivergentCollective : kUninitialised;
    describe(finding, wave, first_of(lanes));
    if (origin != kNowhere && origin != wave.at) {  // where the value came from is what must change
        finding.place[0] = origin + 1ull;
        finding.place[1] = wave.at + 1ull;
    }
    finding.detail = finding.kind == kUninitialised ? 1 : wave.exec();  // a value, not a place in memory
    group.uses_undefined = true;
}

void report_unwritten(Wave& wave, int lane, const Region* region, uint64_t offset, uint32_t bytes) {
    Workgroup& group = *wave.group;
    if (group.uses_undefined || !group.worker->request->head.checks) return;
    Finding& finding = group.undefined;
    finding = {};
    finding.kind = kUninitialised;
    describe(finding, wave, lane);
    finding.write = 1;
    finding.size = bytes;
    finding.offset = (int64_t)offset;
    if (region) finding.region = region->number;
    group.uses_undefined = true;
}

void report_outside(Wave& wave, Segment segment, int lane, uint64_t address, uint32_t bytes, bool is_write) {
    Finding finding = {};
    finding.kind = kOutOfBounds;
    describe(finding, wave, lane);
    finding.address = address;
    finding.size = bytes;
    finding.write = is_write;
    if (segment == Segment::lds) {
        finding.detail = kInLds;
        finding.offset = (int64_t)address;
    } else if (segment == Segment::scratch) {
        finding.detail = kInPrivate;
        if (wave.group->kernel->dynamic_stack) finding.kind = kStackOverflow;
    } else if (address < 4096) {
        finding.detail = kNullPointer;
    } else if (address >> 48 >= kCodeBase >> 48) {
        finding.detail = kInImage;
    } else {
        finding.region = nearest_buffer(address, finding.offset);
        finding.detail = finding.region == kNoRegion ? kNothing : kNearBuffer;
        const bool is_far = finding.offset > (1ll << 32) || finding.offset < -(1ll << 32);
        if (is_far) finding.detail = kNothing, finding.region = kNoRegion;
    }
    end(wave, finding);
}

void report_read_only(Wave& wave, const Region& region, int lane, uint64_t address, uint32_t bytes) {
    Finding finding = {};
    finding.kind = region.space == Space::buffer ? kInputWritten : kOutOfBounds;
    describe(finding, wave, lane);
    finding.address = address;
    finding.size = bytes;
    finding.write = 1;
    finding.region = region.number;
    finding.offset = (int64_t)(address - region.guest);
    if (region.space != Space::buffer) finding.detail = kInImage, finding.region = kNoRegion;
    end(wave, finding);
}

void report_misaligned(Wave& wave, int lane, uint64_t address, uint32_t bytes, bool is_write) {
    Finding finding = {};
    finding.kind = kMisaligned;
    describe(finding, wave, lane);
    finding.address = address;
    finding.size = bytes;
    finding.write = is_write;
    end(wave, finding);
}

// The number of the probe is in the address, the value in question in the data.
void report_probe(Wave& wave, uint64_t lanes, uint64_t address, uint64_t value) {
    Finding finding = {};
    finding.kind = kProbe;
    describe(finding, wave, first_of(lanes));
    finding.address = address - kProbeBase;
    finding.other[0] = value;
    end(wave, finding);
}

void report_timeout_of(Wave& wave, uint64_t waiting, uint64_t going_ms) {
    Finding finding = {};
    finding.kind = kTimeout;
    describe(finding, wave, first_of(wave.exec()));
    finding.detail = waiting;
    finding.size = going_ms > ~0u ? ~0u : (uint32_t)going_ms;
    end(wave, finding);
}

void report_hang(Wave& wave, bool is_partial) {
    Finding finding = {};
    finding.kind = is_partial ? kTimeout : kDeadlock;
    describe(finding, wave, first_of(wave.exec()));
    finding.write = is_partial;
    end(wave, finding);
}

}  // namespace machine
