# the kernels as people write them: without what notes the variables down
s/\b[LQ]\([a-z0-9, ]*\) ?//g
