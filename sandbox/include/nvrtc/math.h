// NVRTC has the functions of <math.h> built in.
#pragma once
