"""A second gfx942 build of a candidate, for what optimisation hides: probes that only lanes at fault reach.

What the interpreter has to know of such a listing:

- a `global_store_dwordx2` to the probe page (`fault_probe.PAGE`) is a finding of the lanes in EXEC and no access: no
  memory is written, no counter moves. Its address says which probe it is, its data the number that is wrong, its `.loc`
  the line and the chain of inlined calls. Execution may go on behind it; behind one of the kind `trap` it ends there;
- `ttmp0` and `ttmp1` are undefined at all times: they stand for variables that have no value. `ttmp2` and `ttmp3` keep
  what `s_mov_b64` writes to them, the wave's last ballot;
- buffers begin at multiples of 256 bytes, or alignment is not tried as it should be;
- lines behind `;` on an instruction are comments, `s_cmpk_*_i32` and the like print negative numbers as `0xffec`.

An undefined register that is stored to a buffer or to LDS, that decides a branch, or that is an address, is the finding
`uninitialised`; scratch may hold what is undefined.
"""
