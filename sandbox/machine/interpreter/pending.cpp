// Operations under way: what waits complete, and registers that are used before.
#include "pending.h"

#include <string.h>

#include "model_state.h"

namespace machine {

namespace {

void mark(Pending& pending, const Operation& operation) {
    if (operation.result == kNowhere) return;
    const bool is_scalar = operation.result & kScalarResult;
    const uint32_t first = operation.result & ~kScalarResult, limit = is_scalar ? 192 : 512;
    uint64_t* const bits = is_scalar ? pending.scalar : pending.vector;
    for (uint32_t r = first; r < first + operation.results && r < limit; r++) bits[r / 64] |= 1ull << r % 64;
    if (is_scalar)
        pending.groups.add_scalar(first, operation.results);
    else
        pending.groups.add_vector(first, operation.results);
    pending.any = true;
}

// Registers are under way as long as an operation that writes them is.
void mark_all(Pending& pending) {
    memset(pending.vector, 0, sizeof pending.vector);
    memset(pending.scalar, 0, sizeof pending.scalar);
    pending.groups = {};
    pending.any = false;
    for (uint32_t i = 0; i < pending.memory.count; i++) mark(pending, pending.memory.oldest(i));
    for (uint32_t i = 0; i < pending.local.count; i++) mark(pending, pending.local.oldest(i));
}

bool is_in(const OperationQueue& queue, const Operation& operation) {
    for (uint32_t i = 0; i < queue.count; i++)
        if (queue.oldest(i).serial == operation.serial) return true;
    return false;
}

void leave(ModelState& state, Wave& wave, const Operation& operation, const OperationQueue& other) {
    if ((operation.kind & kFlat) && is_in(other, operation)) return;  // it counts at both
    complete(state, wave, operation);
}

void complete_memory(ModelState& state, Wave& wave) {
    const Operation operation = wave.pending.memory.pop();
    leave(state, wave, operation, wave.pending.local);
}

// Removes the i-th oldest of those that lgkmcnt counts.
void complete_local(ModelState& state, Wave& wave, uint32_t i) {
    OperationQueue& queue = wave.pending.local;
    const Operation operation = queue.oldest(i);
    for (; i; i--) queue.operation[(queue.first + i) % kQueue] = queue.oldest(i - 1);
    queue.pop();
    leave(state, wave, operation, wave.pending.memory);
}

bool is_in_order(const Operation& operation) { return !(operation.kind & (kScalarLoad | kFlat)); }

// Some of those that lgkmcnt counts come back in any order. Where `left` may be under way, only as many are known to be
// complete as go beyond those.
void wait_local(ModelState& state, Wave& wave, uint32_t left) {
    OperationQueue& queue = wave.pending.local;
    if (!left) {
        while (queue.count) complete_local(state, wave, 0);
        return;
    }
    uint32_t unordered = 0;
    for (uint32_t i = 0; i < queue.count; i++) unordered += !is_in_order(queue.oldest(i));
    while (queue.count > left + unordered) {
        uint32_t i = 0;
        while (i < queue.count && !is_in_order(queue.oldest(i))) i++;
        if (i == queue.count) return;
        complete_local(state, wave, i);
    }
}

// Any of at most 63 registers from `first` on; the word behind the last register's is there.
KM_ALWAYS bool is_marked(const uint64_t* bits, uint32_t first, uint32_t count) {
    const uint64_t* word = bits + first / 64;
    const uint32_t shift = first % 64;
    const uint64_t from_first = word[0] >> shift | (shift ? word[1] << (64 - shift) : 0);
    return from_first & ((1ull << count) - 1);
}

KM_ALWAYS bool is_marked(const Pending& pending, const Operand& operand) {
    const uint32_t count = operand.dwords ? operand.dwords : 1;
    if (operand.kind == kVector) return is_marked(pending.vector, operand.index & (kVectors - 1), count & 63);
    if (operand.kind == kScalar)
        return is_marked(pending.scalar, operand.index < 192 ? operand.index : 191, count & 63);
    return false;
}

bool writes(const Operation& operation, const Operand& operand) {
    if (operation.result == kNowhere || !!(operation.result & kScalarResult) != (operand.kind == kScalar)) return false;
    const uint32_t first = operation.result & ~kScalarResult, count = operand.dwords ? operand.dwords : 1;
    return first < operand.index + count && operand.index < first + operation.results;
}

// The last operation under way that writes some of the operand.
const Operation* writer_of(const Pending& pending, const Operand& operand) {
    const OperationQueue* const queues[] = {&pending.memory, &pending.local};
    const Operation* last = nullptr;
    for (const OperationQueue* queue : queues)
        for (uint32_t i = 0; i < queue->count; i++) {
            const Operation& each = queue->oldest(i);
            if (writes(each, operand) && (!last || each.serial > last->serial)) last = &each;
        }
    return last;
}

bool report_use(Wave& wave, const Operand& operand) {
    const Operation* writer = writer_of(wave.pending, operand);
    report(wave, kMissingWait, wave.exec(), operand.index, writer ? writer->instruction : kNowhere);
    return false;
}

// What has been waited for needs no fence.
void note_completed(const ModelState& state, Pending& pending) {
    raise(pending.fence, pending.memory.count ? pending.memory.oldest(0).tick - 1 : state.tick);
}

}  // namespace

void MemoryModel::issue(Wave& wave, uint8_t counters, uint8_t kind, const Operand* result) {
    Pending& pending = wave.pending;
    pass_moment(*state, wave.at);
    Operation operation = {state->tick, pending.serial++, wave.at, kNowhere, 0, kind, counters};
    pending.touching_lds += !!(kind & (kTouchesLds | kDirectToLds));
    pending.direct += !!(kind & kDirectToLds);
    if (state->is_atomic) operation.kind |= kAtomicOperation;
    state->is_atomic = false;
    if (result && result->kind != kNone && result->kind != kConstant) {
        operation.result = result->index | (result->kind == kScalar ? kScalarResult : 0);
        operation.results = result->dwords ? result->dwords : 1;
        // Loads of one kind come back in order, so the later one may have the register, too.
        const Operation* before = pending.any && is_marked(pending, *result) ? writer_of(pending, *result) : nullptr;
        if (before && !(before->counters == counters && is_in_order(*before) && is_in_order(operation))) {
            report_use(wave, *result);
            return;
        }
    }
    const uint32_t before = pending.memory.count + pending.local.count;
    if (counters & kCountsVector && pending.memory.count == kMostOutstanding) complete_memory(*state, wave);
    if (counters & kCountsScalar && pending.local.count >= kMostScalarOutstanding) {
        wait_local(*state, wave, kMostScalarOutstanding - 1);
        if (pending.local.count == kMostOutstanding) complete_local(*state, wave, 0);
    }
    const bool is_full = pending.memory.count + pending.local.count != before;
    if (counters & kCountsVector) pending.memory.push(operation);
    if (counters & kCountsScalar) pending.local.push(operation);
    if (is_full && pending.any)
        mark_all(pending);
    else
        mark(pending, operation);
}

void MemoryModel::wait(Wave& wave, uint32_t vmcnt, uint32_t lgkmcnt) {
    Pending& pending = wave.pending;
    const uint32_t before = pending.memory.count + pending.local.count;
    while (pending.memory.count > vmcnt) complete_memory(*state, wave);
    if (pending.local.count > lgkmcnt) wait_local(*state, wave, lgkmcnt);
    if (rules.global_needs_fence) note_completed(*state, pending);
    if (pending.any && pending.memory.count + pending.local.count != before) mark_all(pending);
}

bool MemoryModel::check_pending(Wave& wave, const Instruction& in) {
    for (uint32_t k = 0; k < in.sources && k < 4; k++)
        if (is_marked(wave.pending, in.source[k])) return report_use(wave, in.source[k]);
    if (in.bytes) return true;  // issue() knows whether it may come after the other
    for (uint32_t k = 0; k < in.results && k < 2; k++)
        if (is_marked(wave.pending, in.result[k])) return report_use(wave, in.result[k]);
    return true;
}

}  // namespace machine
