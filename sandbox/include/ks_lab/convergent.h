// As in device code, any function may wait for other work-items: a call is not to be copied into two branches before it
// is seen whether it does. Ends in ks_lab/launch.h. No guard: it stands once for the headers and, where those are read
// from their precompiled form, once for the candidate.
#pragma clang attribute push(__attribute__((convergent)), apply_to = function)
