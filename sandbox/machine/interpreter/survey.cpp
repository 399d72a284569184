#include "survey.h"

#include <stdlib.h>
#include <string.h>

#include "coverage.h"
#include "deadline.h"
#include "explore.h"
#include "findings.h"
#include "memory_map.h"

namespace machine {

namespace {

constexpr uint32_t kTold = 24;           // shapes that are told of each thing that was met
constexpr uint32_t kMostTold = 1 << 15;  // pairs of a shape and a thing
constexpr uint64_t kSlice = 1 << 14;     // instructions
constexpr uint64_t kAccesses = 16;       // of a lane to memory, which take as long as an instruction
constexpr uint64_t kForKnown = 3;        // its part of the budget goes to the known shapes

struct Survey {
    Grid& grid;
    Worker& worker;
    Coverage met = {}, known = {};  // of a shape, of the known ones
    MetList list = {};
    uint32_t* failures = nullptr;  // shapes with a finding
    uint32_t done = 0, failed = 0;
    uint64_t instructions = 0;
    uint64_t* first_launch = nullptr;          // of each shape
    uint64_t* spent = nullptr;                 // of each kind of shape: instructions
    uint32_t *next = nullptr, *end = nullptr;  // of each kind: the next of its shapes, by their order
    uint32_t* order = nullptr;                 // shapes that are not known, kind after kind

    Survey(Grid& of, Worker& by) : grid(of), worker(by) {}
    uint64_t items() const { return 8 * met.instructions + met.data_words; }
};

// An instruction more than a workgroup may take is one too many: others shall have their turn.
void run_one(Survey& survey, const Launch& launch, uint64_t index, uint64_t linear) {
    const uint64_t most = survey.grid.request->head.survey_group;
    Workgroup* group = open_workgroup(survey.worker, launch, (uint32_t)index, linear);
    const uint64_t before = survey.worker.covered_steps;
    uint64_t spent = 0;
    while (spent < most) {
        const Progress progress = run_workgroup(*group, kSlice);
        spent = survey.worker.covered_steps - before + group->accesses / kAccesses + 1;
        if (progress == Progress::ended || progress == Progress::stuck || group->failed) break;
    }
    survey.instructions += spent;
    close_workgroup(survey.worker, group);
}

void run_launch_of(Survey& survey, uint64_t index) {
    const Launch& launch = survey.grid.request->launches[index];
    set_arguments(launch, survey.worker.program->kernels[launch.kernel]);
    for (uint64_t k = 0; k < launch.blocks && !finding_count(); k++)
        run_one(survey, launch, index, launch.linear(k, false));
}

void settle(Survey& survey, uint32_t shape) {
    const bool is_known = shape < survey.grid.request->head.survey_known;
    if (finding_count() && !is_known) survey.failures[survey.failed++] = shape;
    for (uint64_t i = 0; i < survey.met.instructions; i++) {
        const uint32_t fresh = survey.met.met[i] & ~survey.known.met[i];
        if (is_known) survey.known.met[i] |= survey.met.met[i];
        for (uint32_t bits = is_known ? 0 : fresh; bits; bits &= bits - 1)
            survey.list.tell(shape, 8 * i + (uint64_t)__builtin_ctz(bits));
    }
    for (uint64_t i = 0; i < survey.met.data_words; i++) {
        if (is_known) survey.known.words[i] |= survey.met.words[i];
        if (!is_known && survey.met.words[i] && !survey.known.words[i])
            survey.list.tell(shape, 8 * survey.met.instructions + i);
    }
    clear(survey.met);
    clear_findings();
}

template <class T> T* room_for(uint64_t count) {
    T* room = (T*)calloc(count + 1, sizeof(T));
    if (!room) die("no memory for the survey");
    return room;
}

// Shapes of a kind one after the other, in the order in which they are asked for.
void sort_by_kind(Survey& survey) {
    const Request& request = *survey.grid.request;
    const uint64_t shapes = request.head.shapes, known = request.head.survey_known;
    survey.first_launch = room_for<uint64_t>(shapes);
    survey.spent = room_for<uint64_t>(kMostKinds);
    survey.next = room_for<uint32_t>(kMostKinds);
    survey.end = room_for<uint32_t>(kMostKinds);
    survey.order = room_for<uint32_t>(shapes);
    for (uint64_t i = 0; i < shapes; i++) {
        survey.first_launch[i + 1] = survey.first_launch[i] + request.launches_of[i];
        if (i >= known) survey.end[request.kind_of[i]]++;
    }
    for (uint32_t k = 0, count = 0; k < kMostKinds; k++) {
        survey.next[k] = count;
        count += survey.end[k];
        survey.end[k] = survey.next[k];
    }
    for (uint64_t i = known; i < shapes; i++) survey.order[survey.end[request.kind_of[i]]++] = (uint32_t)i;
}

// What an earlier survey of the program saw of the known shapes.
void take_seen(Survey& survey) {
    const Request& request = *survey.grid.request;
    const uint64_t bytes = survey.known.instructions + survey.known.data_words;
    if (request.head.survey_seen && request.head.survey_seen != bytes) die("request.bin knows another program");
    if (!request.head.survey_seen) return;
    memcpy(survey.known.met, request.seen, survey.known.instructions);
    memcpy(survey.known.words, request.seen + survey.known.instructions, survey.known.data_words);
}

Survey begin(Grid& grid, const Watches& watches) {
    Worker& worker = grid.workers[0];
    const uint32_t* alike = first_alike(*worker.program);
    Survey survey(grid, worker);
    survey.met = new_coverage(*worker.program, alike);
    survey.known = new_coverage(*worker.program, alike);
    take_seen(survey);
    survey.list.prepare(survey.items());
    survey.failures = room_for<uint32_t>(grid.request->head.shapes);
    worker.watches = watches.of;
    sort_by_kind(survey);
    return survey;
}

void run_shape(Survey& survey, uint32_t shape) {
    const uint64_t before = survey.instructions;
    for (uint64_t i = survey.first_launch[shape]; i < survey.first_launch[shape + 1]; i++) run_launch_of(survey, i);
    settle(survey, shape);
    survey.done++;
    survey.spent[survey.grid.request->kind_of[shape]] += survey.instructions - before;
}

// The kind that has taken least and has shapes left; kMostKinds where none has.
uint32_t least_spent(const Survey& survey) {
    uint32_t best = kMostKinds;
    for (uint32_t k = 0; k < kMostKinds; k++) {
        if (survey.next[k] >= survey.end[k]) continue;
        if (best == kMostKinds || survey.spent[k] < survey.spent[best]) best = k;
    }
    return best;
}

// The sides of comparisons that had one outcome on all shapes, by the rows that were explored.
void write_compared(FILE* out, const Survey& survey, const Coverage& every, const OperandSamples& samples) {
    const char* comma = "";
    for (uint64_t i = 0; i < every.instructions; i++) {
        const uint8_t met = (every.met[i] | survey.known.met[i]) & (kFalse | kTrue | kBoth);
        const uint32_t count = samples.count[i];
        if (count < 2 || (met != kFalse && met != kTrue)) continue;
        fprintf(out, "%s[%llu", comma, (unsigned long long)i);
        for (uint32_t k = 0; k < count; k++) {
            const OperandSample& s = samples.sample[(uint64_t)kSamples * i + k];
            fprintf(out, ",[%u,%lld,%lld]", s.shape, (long long)s.left, (long long)s.right);
        }
        fprintf(out, "]");
        comma = ",\n";
    }
}

void write(FILE* out, const Survey& survey, const Exploration& explored) {
    fprintf(out, "{\"done\":%u,\"instructions\":%llu,\"failed\":[", survey.done,
            (unsigned long long)survey.instructions);
    for (uint32_t i = 0; i < survey.failed; i++) fprintf(out, "%s%u", i ? "," : "", survey.failures[i]);
    fprintf(out, "],\"told\":[");
    survey.list.write(out);
    fprintf(out, "],\"explored\":[");
    explored.found.write(out);
    fprintf(out, "],\"compared\":[");
    write_compared(out, survey, explored.every, explored.samples);
    fprintf(out, "],\"seen\":\"");
    for (uint64_t i = 0; i < survey.known.instructions; i++) fprintf(out, "%02x", survey.known.met[i]);
    for (uint64_t i = 0; i < survey.known.data_words; i++) fprintf(out, "%02x", survey.known.words[i]);
    fprintf(out, "\"}\n");
    fflush(out);
}

}  // namespace

void MetList::prepare(uint64_t items) {
    shapes_of = room_for<uint32_t>(items);
    told = room_for<MetPair>(kMostTold);
}

void MetList::tell(uint32_t shape, uint64_t item) {
    if (shapes_of[item]++ < kTold && count < kMostTold) told[count++] = {shape, (uint32_t)item};
}

void MetList::write(FILE* out) const {
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s[%u,%u,%u]", i ? ",\n" : "", told[i].shape, told[i].item, shapes_of[told[i].item]);
}

void run_survey(FILE* out, Grid& grid) {
    const RequestHeader& head = grid.request->head;
    Survey survey = begin(grid, watches_of(*grid.workers[0].program));
    grid.workers[0].covered = &survey.met;
    const uint64_t for_known = head.survey_instructions / kForKnown;
    for (uint32_t shape = 0; shape < head.survey_known && survey.instructions < for_known; shape++)
        run_shape(survey, shape);
    survey.instructions = 0;
    memset(survey.spent, 0, kMostKinds * sizeof(uint64_t));
    while (survey.instructions < head.survey_instructions && !is_over_deadline(grid)) {
        const uint32_t kind = least_spent(survey);
        if (kind == kMostKinds) break;
        run_shape(survey, survey.order[survey.next[kind]++]);
    }
    Exploration explored = {};
    explored.found.prepare(survey.items());
    explored.samples = new_samples(survey.known.instructions);
    explored.every = new_coverage(*grid.workers[0].program, survey.known.first_like);
    explore(grid, survey.met, survey.known, explored);
    write(out, survey, explored);
}

}  // namespace machine
