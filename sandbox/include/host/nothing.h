// The host half: nothing of it is read by device code.
#pragma once
