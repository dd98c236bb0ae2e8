// A kernel that does nothing for so many nanoseconds: what is enqueued behind it waits.

#include "common.cuh"

__device__ inline u64 now() { u64 t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }

KERNEL gate(u64 nanoseconds) {
    u64 start = now();
    while (now() - start < nanoseconds) {}
}
