// Sizes for NVRTC, which has no standard headers; size_t is built in.
#pragma once
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
