// When memory operations are done, in a timeline.
#pragma once
#include <stdint.h>

namespace machine {

// When an access is done, and when it would be if nobody else wanted the same.
struct Arrival {
    double at, alone;
};

inline double least(double a, double b) { return a < b ? a : b; }
inline double most(double a, double b) { return a > b ? a : b; }

constexpr uint32_t kQueueRoom = 64;

// When operations of one counter are done, in order of issue.
struct Queue {
    Arrival done[kQueueRoom];
    uint32_t first, count;

    void push(Arrival arrival) {
        if (count) {  // they come back in order
            const Arrival& last = done[(first + count - 1) % kQueueRoom];
            arrival.at = most(arrival.at, last.at);
            arrival.alone = most(arrival.alone, last.alone);
        }
        if (count == kQueueRoom) first = (first + 1) % kQueueRoom, count--;
        done[(first + count++) % kQueueRoom] = arrival;
    }
    // The arrival that leaves at most so many outstanding.
    Arrival last(uint32_t outstanding) const {
        return count > outstanding ? done[(first + count - outstanding - 1) % kQueueRoom] : Arrival{};
    }
    void leave(uint32_t outstanding) {
        if (count <= outstanding) return;
        first = (first + count - outstanding) % kQueueRoom;
        count = outstanding;
    }
};

}  // namespace machine
