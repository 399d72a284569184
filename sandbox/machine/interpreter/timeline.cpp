#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "code_cache.h"

namespace machine {

namespace {

constexpr uint32_t kSimds = 4, kMostResident = 32, kMostWavesAtOnce = 32, kFewTimes = 8;
constexpr double kNever = __builtin_inf();
constexpr double kRounds = 3, kFewSteps = 8;  // walked through at least; of all steps, what short workgroups may use

using Times = double __attribute__((ext_vector_type(kFewTimes)));

struct Runner {
    const GroupStream* stream;
    const WaveStream* steps;
    uint64_t next;
    uint32_t slot, simd, code;  // code: where its instructions come from at present
    double now;
    bool is_waiting;   // at a barrier
    uint32_t barrier;  // the instruction
    Queue vector, scalar;
    // When a register can be read, and when a matrix instruction can add to it: sums go from one straight to the next.
    double ready[kTimedRegisters], summed[kTimedRegisters];
};

struct Simd {
    double free[(int)Category::none + 1], matrix;
    uint32_t wanting;  // which waves issue a vector or matrix instruction next
};

struct Slot {
    uint64_t serial;
    uint32_t left, arrived, waves;
    double last;
};

// One walk through the streams of all workgroups that the unit is given.
class Walk {
  public:
    Walk(const TimelineSetting& setting, const Levels& levels, Timeline& line)
        : stream_(setting.streams.launch[setting.launch]), residency_(stream_.residency), rows_(setting.rows),
          c_(setting.clock), memory_(setting.clock, residency_.units, levels, setting.streams.line_bytes),
          code_(setting.rows[setting.program.head.instructions - 1].code + 1, setting.clock.l2_latency), line_(line) {
        runner_ = (Runner*)calloc(kMostWavesAtOnce, sizeof(Runner));
        if (!runner_) die("no memory for the timeline");
        for (double& due : due_) due = kNever;
        plan();
    }
    ~Walk() { free(runner_); }

    void run() {
        while (begun_ < resident_) begin((uint32_t)begun_, 0);
        while (line_.ends < groups_) {
            Runner* const wave = earliest();
            if (!wave) break;
            step(*wave);
            go_on(*wave);
        }
        const double each = line_.steps ? each_ / line_.steps : 0;  // of a workgroup, by what was walked through
        for (int i = 0; i < 3; i++) line_.bytes[i] = memory_.bytes(i) * each;
        for (double& work : line_.work) work *= each;
        stretch();
    }

  private:
    // How many workgroups are walked through, and how much of each.
    void plan() {
        double kept = 0, executed = 0;
        waves_ = 1;
        for (uint32_t g = 0; g < stream_.groups; g++) {
            const GroupStream& group = stream_.group[g];
            for (uint32_t w = 0; w < group.waves; w++) kept += group.wave[w].kept, executed += group.wave[w].executed;
            if (group.waves > waves_) waves_ = group.waves;
        }
        const double each = kept / stream_.groups;
        double resident = residency_.resident;
        if (resident > residency_.workgroups) resident = residency_.workgroups;
        if (resident > kMostResident) resident = kMostResident;
        if (resident * waves_ > kMostWavesAtOnce) resident = kMostWavesAtOnce / waves_;
        resident_ = resident < 1 ? 1 : (uint32_t)resident;
        room_ = resident_ * waves_;
        double wanted = most(kRounds * resident_, c_.most_steps / kFewSteps / (each + 1));
        if (wanted > residency_.workgroups) wanted = residency_.workgroups;
        if (wanted > kMostEnds) wanted = kMostEnds;
        if (wanted * each > c_.most_steps) wanted = (double)(uint64_t)(c_.most_steps / (each + 1));
        groups_ = wanted < resident_ ? resident_ : (uint64_t)wanted;
        skipped_ = (uint64_t)(groups_ * each / c_.most_steps);
        each_ = executed / stream_.groups;
        factor_ = kept ? executed / kept * (double)(skipped_ + 1) : 1;
    }

    // Of long streams, a workgroup walks through one window in so many, and each workgroup through others.
    static bool is_over(const Runner& wave) { return wave.next >= wave.steps->kept; }
    void advance(Runner& wave) const {
        if (++wave.next % kWindow == 0) wave.next += skipped_ * kWindow;
    }

    void begin(uint32_t slot, double at) {
        const GroupStream& group = stream_.group[begun_ % stream_.groups];
        const double may = c_.dispatch * (double)begun_ * residency_.units / c_.chiplets;
        slot_[slot] = {begun_++, group.waves, 0, group.waves, 0};
        for (uint32_t w = 0; w < group.waves; w++) {
            Runner& wave = runner_[slot * waves_ + w];
            memset(&wave, 0, sizeof wave);
            wave.stream = &group, wave.steps = &group.wave[w];
            wave.slot = slot, wave.simd = next_simd_++ % kSimds;
            wave.now = most(at + c_.start, may);
            wave.next = slot_[slot].serial % (skipped_ + 1) * kWindow;
            if (is_over(wave)) wave.next = 0;
            if (is_over(wave)) end(wave);
            go_on(wave);
        }
    }

    // Of those that are due at the same time, the first. No branch here depends on the times: none could be foreseen.
    Runner* earliest() {
        Times lowest = times(0);
        for (uint32_t i = kFewTimes; i < room_; i += kFewTimes) lowest = lower(lowest, times(i));
        lowest = lower(lowest, __builtin_shufflevector(lowest, lowest, 4, 5, 6, 7, 0, 1, 2, 3));
        lowest = lower(lowest, __builtin_shufflevector(lowest, lowest, 2, 3, 0, 1, 6, 7, 4, 5));
        const double first = least(lowest[0], lowest[1]);
        uint32_t same = 0;
        for (uint32_t i = 0; i < room_; i += kFewTimes) {
            using Bools = bool __attribute__((ext_vector_type(kFewTimes)));
            const Bools are_first = __builtin_convertvector(times(i) == first, Bools);
            same |= (uint32_t)__builtin_bit_cast(uint8_t, are_first) << i;
        }
        return first == kNever ? nullptr : &runner_[__builtin_ctz(same)];
    }
    Times times(uint32_t from) const {
        Times some;
        memcpy(&some, due_ + from, sizeof some);
        return some;
    }
    static Times lower(Times a, Times b) { return a < b ? a : b; }

    // What the wave waits for that no other can change is over before it is its turn, and so is the vector unit's work.
    void go_on(Runner& wave) {
        const uint32_t number = (uint32_t)(&wave - runner_);
        due_[number] = kNever;
        if (!wave.stream || wave.is_waiting) return;
        at_ = wave.steps->step[wave.next].at;
        const TimedInstruction& row = rows_[at_];
        must_wait(wave, operands_at(wave, row), Stall::dependency);
        if (row.category == Category::wait) await(wave, row);
        if (row.category == Category::vector || row.category == Category::matrix) {
            Simd& simd = simd_[wave.simd];
            simd.wanting |= 1u << number;
            must_wait(wave, simd.free[(int)Category::vector], Stall::valu);
        }
        due_[number] = wave.now;
    }

    // The wave issues: of those that want to use the same vector unit, none comes before it is free again.
    void occupy(const Runner& wave, double until) {
        Simd& simd = simd_[wave.simd];
        simd.free[(int)Category::vector] = until;
        simd.wanting &= ~(1u << (&wave - runner_));
        const uint32_t at = at_;
        for (uint32_t rest = simd.wanting; rest; rest &= rest - 1) {
            const uint32_t number = (uint32_t)__builtin_ctz(rest);
            Runner& other = runner_[number];
            at_ = other.steps->step[other.next].at;
            must_wait(other, until, Stall::valu);
            due_[number] = other.now;
        }
        at_ = at;
    }

    void charge(const Runner& wave, double until, Stall cause) {
        const double clocks = until - wave.now;
        line_.busy[(int)cause] += clocks;
        line_.stall[kStalls * at_ + (int)cause] += clocks;
    }

    // True where the wave has to come again: others go first until then.
    bool must_wait(Runner& wave, double until, Stall cause) {
        if (until <= wave.now) return false;
        charge(wave, until, cause);
        wave.now = until;
        return true;
    }

    // The wave is the earliest of all: it issues its instruction now, or comes again when what keeps it may be over.
    void step(Runner& wave) {
        const Step& step = wave.steps->step[wave.next];
        at_ = step.at;
        const TimedInstruction& row = rows_[at_];
        const Touch* touch = step.touch == kNowhere ? nullptr : &wave.stream->touch[step.touch];
        if (row.code != wave.code) {
            wave.code = row.code;
            if (must_wait(wave, code_.arrival(row.code, wave.now), Stall::issue)) return;
        }
        if (is_kept(wave, row, simd_[wave.simd])) return;
        advance(wave);
        line_.steps++;
        issue(wave, row, touch);
        must_wait(wave, wave.now + issue_clocks(wave, row), Stall::issue);
        if (row.category == Category::barrier)
            arrive(wave);
        else if (is_over(wave))
            end(wave);
    }

    double issue_clocks(const Runner& wave, const TimedInstruction& row) const {
        switch (row.category) {
        case Category::none:
            return 0;
        case Category::vector:
            return c_.issue;
        case Category::matrix:
            return c_.matrix_issue;
        case Category::lds:
            return c_.lds_issue;
        case Category::memory:
        case Category::scalar_memory:
            return c_.memory_issue;
        case Category::pause:
            return c_.slot * row.pause;
        case Category::branch:
            return c_.scalar_issue + (is_taken(wave) ? c_.branch : 0);
        default:
            return c_.scalar_issue;
        }
    }

    bool is_kept(Runner& wave, const TimedInstruction& row, const Simd& simd) {
        switch (row.category) {
        case Category::matrix:
            return must_wait(wave, simd.matrix, Stall::mfma);
        case Category::lds:
            if (must_wait(wave, port_of(wave) - c_.lds_queue, Stall::lds)) return true;
            break;
        case Category::memory:
            if (must_wait(wave, memory_.address_free() - c_.address_queue, Stall::memory)) return true;
            break;
        case Category::vector:
        case Category::wait:
        case Category::none:
            return false;
        default:
            break;
        }
        return must_wait(wave, simd.free[(int)row.category], Stall::issue);
    }

    void await(Runner& wave, const TimedInstruction& row) {
        if (row.vmcnt != 255) await(wave, wave.vector.last(row.vmcnt), Stall::vmcnt, Stall::memory);
        if (row.lgkmcnt != 255) await(wave, wave.scalar.last(row.lgkmcnt), Stall::lgkmcnt, Stall::lds);
    }
    void await(Runner& wave, const Arrival& arrival, Stall latency, Stall others) {
        must_wait(wave, arrival.alone, latency);
        must_wait(wave, arrival.at, others);
    }

    void issue(Runner& wave, const TimedInstruction& row, const Touch* touch) {
        Simd& simd = simd_[wave.simd];
        work(Work::instructions) += row.category != Category::none;
        const double busy = c_.slot * row.passes;
        switch (row.category) {
        case Category::vector:
            occupy(wave, wave.now + busy);
            work(Work::valu) += busy;
            written(wave, row, wave.now + busy - c_.slot + c_.vector_latency,
                    wave.now + busy - c_.slot + c_.vector_latency);
            return;
        case Category::matrix:
            occupy(wave, wave.now + (row.is_alone ? busy : c_.slot));
            simd.matrix = wave.now + busy;
            work(Work::mfma) += busy;
            written(wave, row, wave.now + busy + c_.matrix_latency, wave.now + busy);
            return;
        case Category::lds:
            lds(wave, touch);
            break;
        case Category::memory:
            memory(wave, row, touch);
            break;
        case Category::scalar_memory:
            wave.scalar.push(touch ? memory_.scalar_load(*wave.stream, *touch, slot_[wave.slot].serial, wave.now)
                                   : after(wave.now, c_.scalar_latency));
            break;
        case Category::wait:
            if (row.vmcnt != 255) wave.vector.leave(row.vmcnt);
            if (row.lgkmcnt != 255) wave.scalar.leave(row.lgkmcnt);
            break;
        default:
            break;
        }
        simd.free[(int)row.category] = wave.now + c_.slot;
    }

    double& work(Work what) { return line_.work[(int)what]; }

    static Arrival after(double now, double clocks) { return {now + clocks, now + clocks}; }

    bool is_taken(const Runner& wave) const {
        return wave.next < wave.steps->kept && wave.next % kWindow && wave.steps->step[wave.next].at != at_ + 1;
    }

    static double latest(const double* times, uint32_t count) {
        using Four = double __attribute__((ext_vector_type(4)));
        Four some = {};
        uint32_t i = 0;
        for (; i + 4 <= count; i += 4) {
            Four more;
            memcpy(&more, times + i, sizeof more);
            some = some < more ? more : some;
        }
        double last = most(most(some[0], some[1]), most(some[2], some[3]));
        for (; i < count; i++) last = most(last, times[i]);
        return last;
    }

    static double operands_at(const Runner& wave, const TimedInstruction& row) {
        double ready = 0;
        for (uint32_t i = 0; i < row.reads; i++) {
            const double* const at = i == row.accumulator ? wave.summed : wave.ready;
            ready = most(ready, latest(at + row.read[i].first, row.read[i].count));
        }
        return ready;
    }

    static void written(Runner& wave, const TimedInstruction& row, double at, double summed) {
        for (uint32_t i = 0; i < row.writes; i++)
            for (uint32_t r = 0; r < row.written[i].count; r++) {
                wave.ready[row.written[i].first + r] = at;
                wave.summed[row.written[i].first + r] = summed;
            }
    }

    double& port_of(const Runner& wave) { return port_[wave.simd % (uint32_t)c_.lds_ports]; }

    void lds(Runner& wave, const Touch* touch) {
        const double banks = touch ? touch->unit_clocks : 2, clocks = touch ? touch->port_clocks : 8;
        double& port = port_of(wave);
        port = most(port, wave.now) + clocks;
        banks_ = most(banks_, wave.now) + banks;
        work(Work::banks) += banks, work(Work::port) += clocks;
        wave.scalar.push({most(port, banks_) + c_.lds_latency, wave.now + most(clocks, banks) + c_.lds_latency});
    }

    void memory(Runner& wave, const TimedInstruction& row, const Touch* touch) {
        if (touch && touch->kind == TouchKind::lds) return lds(wave, touch);
        if (row.fence == Fence::invalidate) memory_.forget();
        if (row.fence == Fence::write_back) return wave.vector.push(after(wave.now, c_.mall_latency));
        if (touch) work(Work::address) += touch->unit_clocks;
        const Arrival arrival = touch ? memory_.access(*wave.stream, *touch, slot_[wave.slot].serial, wave.now)
                                      : after(wave.now, c_.l1_latency);
        wave.vector.push(arrival);
        if (row.counts_scalar) wave.scalar.push(arrival);
    }

    void arrive(Runner& wave) {
        Slot& slot = slot_[wave.slot];
        wave.is_waiting = true, wave.barrier = at_;
        slot.arrived++;
        slot.last = most(slot.last, wave.now);
        if (is_over(wave))
            end(wave);
        else
            open_barrier(slot, wave.slot);
    }

    void open_barrier(Slot& slot, uint32_t number) {
        if (!slot.arrived || slot.arrived < slot.left) return;
        const double at = slot.last + c_.barrier;
        slot.arrived = 0, slot.last = 0;
        for (uint32_t w = 0; w < slot.waves; w++) {
            Runner& wave = runner_[number * waves_ + w];
            if (!wave.stream || !wave.is_waiting) continue;
            wave.is_waiting = false;
            at_ = wave.barrier;
            must_wait(wave, at, Stall::barrier);
            go_on(wave);
        }
    }

    void end(Runner& wave) {
        const double last = wave.now;
        Slot& slot = slot_[wave.slot];
        if (wave.is_waiting) slot.arrived--;
        wave.is_waiting = false;
        wave.stream = nullptr;
        if (--slot.left) return open_barrier(slot, wave.slot);
        if (line_.ends < kMostEnds) line_.end[line_.ends++] = last;
        // The unit stays full until the last one that is counted has ended, where more are to come.
        if (begun_ < groups_ || begun_ < residency_.workgroups) begin(wave.slot, last);
    }

    // What was left out takes as long as what stands for it.
    void stretch() {
        if (factor_ <= 1) return;
        for (uint32_t i = 0; i < line_.ends; i++) line_.end[i] *= factor_;
    }

    const LaunchStream& stream_;
    const Residency& residency_;
    const TimedInstruction* rows_;
    const Clock& c_;
    UnitMemory memory_;
    CodeCache code_;
    Timeline& line_;
    Runner* runner_;
    double due_[kMostWavesAtOnce];  // when each wave goes on
    Slot slot_[kMostResident] = {};
    Simd simd_[kSimds] = {};
    double port_[4] = {}, banks_ = 0, each_ = 0, factor_ = 1;
    uint64_t groups_ = 0, begun_ = 0, skipped_ = 0;  // skipped_: windows behind each
    uint32_t resident_ = 1, waves_ = 1, room_ = 0, next_simd_ = 0, at_ = 0;
};

}  // namespace

Timeline timeline_of(const TimelineSetting& setting, bool is_warm) {
    Timeline line = {};
    line.stall = (double*)calloc(setting.program.head.instructions * kStalls + kStalls, sizeof(double));
    if (!line.stall) die("no memory for the timeline");
    const Levels levels = levels_of(setting.streams, setting.launch, setting.clock, is_warm);
    Walk walk(setting, levels, line);
    walk.run();
    return line;
}

}  // namespace machine
