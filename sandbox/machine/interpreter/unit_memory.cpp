#include "unit_memory.h"

namespace machine {

namespace {

// Lines that a workgroup touches for the first time, by buffer: a mean over those that are kept.
struct Footprint {
    double lines[2][kMaxRegions];

    explicit Footprint(const LaunchStream& stream) : lines{} {
        for (uint32_t g = 0; g < stream.groups; g++)
            for (int stores = 0; stores < 2; stores++)
                for (uint32_t r = 0; r < kMaxRegions; r++)
                    lines[stores][r] += (double)stream.group[g].fresh[stores][r] / stream.groups;
    }
};

// Of the lines that a workgroup loads after another has: the part that no longer lies in a cache of so many bytes. They
// come again after a row of the grid, or a plane of it, as often as the workgroup before in y, or in z, loads them.
double gone_by(const LaunchStream& stream, uint32_t region, double each_bytes, double cache_bytes) {
    const Reuse& reuse = stream.reuse[region];
    const double found = (double)(reuse.before[0] + reuse.before[1]);
    if (found < 0.1 * reuse.lines || !reuse.lines) return 1;
    const double row = each_bytes * stream.grid[0], plane = row * stream.grid[1];
    return ((row > cache_bytes) * (double)reuse.before[0] + (plane > cache_bytes) * (double)reuse.before[1]) / found;
}

constexpr double kScalarBytes = 16384;  // of the scalar cache, which two units share
LineCache g_l1, g_scalar;               // one timeline is walked at a time
bool g_is_recent[kMaxRegions];          // an earlier launch of the plan has touched the buffer

// The part of what was written that a cache has lost when so many bytes of others have come, each in a place by chance.
double gone_after(double bytes, double cache_bytes) { return 1 - __builtin_exp(-bytes / cache_bytes); }

// Of what the workgroups of a chiplet touch, the part that no other of them has touched.
double share_of(const LaunchStream& stream, bool stores, uint32_t region) {
    const Sharing& sharing = stream.sharing[stores][region];
    return sharing.summed ? (double)sharing.distinct / sharing.summed : 1;
}

// The last timeline of a launch is the warm one.
void note_recent(const Footprint& footprint) {
    for (uint32_t r = 0; r < kMaxRegions; r++) g_is_recent[r] |= footprint.lines[0][r] + footprint.lines[1][r] > 0;
}

}  // namespace

Levels levels_of(const Streams& streams, uint32_t launch, const Clock& clock, bool is_warm) {
    const LaunchStream& stream = streams.launch[launch];
    const Residency& residency = stream.residency;
    const Footprint footprint(stream);
    const double line = streams.line_bytes;
    Levels levels = {};
    double moved = 0, resident = 0, touched = 0;  // touched: by one workgroup
    for (int stores = 0; stores < 2; stores++)
        for (uint32_t r = 0; r < streams.regions; r++) {
            Level& level = levels.of[stores][r];
            level.beyond_l2 = share_of(stream, stores, r);
            const double beyond = footprint.lines[stores][r] * residency.blocks * level.beyond_l2;
            const double whole = streams.region_bytes[r] / line + 1;
            level.beyond_mall = beyond > whole ? whole / beyond : 1;
            moved += least(beyond, whole) * line;
            touched += footprint.lines[stores][r] * line;
            resident += footprint.lines[stores][r] * line * level.beyond_l2;
        }
    const double at_once = residency.units * least(residency.resident, residency.workgroups) / clock.chiplets;
    const double shared = touched > 0 ? resident / touched : 1;
    for (uint32_t age = 0; age <= kAgeMask; age++) {
        const double since = __builtin_ldexp(0.75, (int)age - 1) * line * shared * at_once;
        levels.again[age].beyond_l2 = age && since > clock.l2_bytes ? 1 - clock.l2_bytes / since : 0;
    }
    const double kept = moved > clock.mall_bytes ? clock.mall_bytes / moved : 1;
    for (Level& level : levels.again) level.beyond_mall = 1 - kept;
    const bool stays = is_warm && moved <= clock.mall_bytes;
    const bool stays_in_l2 = is_warm && resident * residency.blocks / clock.chiplets <= clock.l2_bytes;
    for (int stores = 0; stores < 2; stores++)
        for (uint32_t r = 0; r < kMaxRegions; r++) {
            Level& level = levels.of[stores][r];
            const bool is_recent = kept == 1 && g_is_recent[r];
            const double again = stores || kept == 1 ? 1 - kept : gone_by(stream, r, resident, clock.mall_bytes);
            level.beyond_mall = stays || is_recent ? 0 : level.beyond_mall + (1 - level.beyond_mall) * again;
            if (stays_in_l2 && !stores) level.beyond_l2 = 0;
        }
    if (is_warm) note_recent(footprint);
    double waves = 0;
    for (uint32_t g = 0; g < stream.groups; g++) waves = most(waves, stream.group[g].waves);
    // Until a lane reads again what it has put into private memory, its workgroup touches half of the rest as well.
    const double scratch =
        at_once * (waves * kLanes * stream.scratch_bytes + (stream.scratch_bytes ? resident / 2 : 0));
    levels.scratch.beyond_l2 = gone_after(scratch, clock.l2_bytes);
    levels.scratch.beyond_mall = gone_after(scratch * clock.chiplets, clock.mall_bytes);
    return levels;
}

UnitMemory::UnitMemory(const Clock& clock, double units, const Levels& levels, uint64_t line_bytes)
    : clock_(clock), levels_(levels), line_bytes_(line_bytes), l1_(g_l1), scalar_(g_scalar) {
    const double of_unit[] = {clock.unit_l2, clock.unit_mall, clock.unit_hbm};
    const double of_chip[] = {clock.chip_l2, clock.chip_mall, clock.chip_hbm};
    for (int i = 0; i < 3; i++) unit_rate_[i] = of_unit[i], share_[i] = of_chip[i] / units;
    l1_.clear((uint64_t)(clock.l1_bytes / line_bytes_));
    scalar_.clear((uint64_t)(kScalarBytes / line_bytes_));
}

// A line from beyond the L1, or to there: a level after the other, each at its rate.
UnitMemory::Line UnitMemory::fetch(uint64_t line, bool stores, bool is_scratch, double now) {
    const uint64_t named = (line & kPlainLine) >> kLineRegion;
    const uint32_t region = named < kMaxRegions ? (uint32_t)named : kMaxRegions + is_scratch;
    const uint32_t age = age_of(line);
    const bool is_fresh = !age && named < kMaxRegions;
    const Level& level = is_scratch ? levels_.scratch : is_fresh ? levels_.of[stores][region] : levels_.again[age];
    const double latency[] = {clock_.l2_latency, clock_.mall_latency, clock_.hbm_latency};
    const double bytes = line_bytes_;
    int deepest = 0;
    if (goes_on(level.beyond_l2, owed_[stores][0][region])) {
        deepest = 1;
        if (goes_on(level.beyond_mall, owed_[stores][1][region])) deepest = 2;
    }
    double at = now;
    for (int i = 0; i <= deepest; i++) {
        const double moved = i == 2 && line & kPartialLine ? bytes * clock_.partial_write : bytes;
        unit_free_[i] = most(unit_free_[i], at) + moved / unit_rate_[i];
        share_free_[i] = most(share_free_[i], at - clock_.burst) + moved / share_[i];
        bytes_[i] += moved;
        at = most(unit_free_[i], share_free_[i]);
    }
    return {at + latency[deepest], now + latency[deepest]};
}

Arrival UnitMemory::access(const GroupStream& stream, const Touch& touch, uint64_t group, double now) {
    const bool stores = touch.kind != TouchKind::load && touch.kind != TouchKind::scratch_load;
    const bool is_scratch = touch.kind == TouchKind::scratch_load || touch.kind == TouchKind::scratch_store;
    address_ = most(address_, now) + touch.unit_clocks;
    Arrival arrival = {address_ + clock_.l1_latency, now + touch.unit_clocks + clock_.l1_latency};
    for (uint32_t i = 0; i < touch.lines; i++) {
        const uint64_t line = stream.line[touch.first_line + i];
        if (stores)
            l1_.forget(tagged(line, group));  // it writes through and keeps nothing of what is written
        else if (!l1_.touch(tagged(line, group), 1))
            continue;
        const Line fetched = fetch(line, stores, is_scratch, address_);
        arrival.at = most(arrival.at, fetched.at);
        arrival.alone = most(arrival.alone, fetched.alone);
    }
    return arrival;
}

Arrival UnitMemory::scalar_load(const GroupStream& stream, const Touch& touch, uint64_t group, double now) {
    Arrival arrival = {now + clock_.scalar_latency, now + clock_.scalar_latency};
    for (uint32_t i = 0; i < touch.lines; i++) {
        const uint64_t line = stream.line[touch.first_line + i];
        if (!scalar_.touch(tagged(line, group), 1)) continue;
        const Line fetched = fetch(line, false, false, now);
        arrival.at = most(arrival.at, fetched.at);
        arrival.alone = most(arrival.alone, fetched.alone);
    }
    return arrival;
}

}  // namespace machine
