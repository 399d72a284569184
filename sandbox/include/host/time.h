// The host half: variables of the host may have these types, and no device code reads one.
#pragma once
typedef long time_t, clock_t;
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct tm;
