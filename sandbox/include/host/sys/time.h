// The host half: variables of the host may have this type, and no device code reads one.
#pragma once
struct timeval {
    long tv_sec, tv_usec;
};
struct timezone;
