//! Device memory, virtual memory and pinned memory, through CUDA's functions.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod common;

use common::*;

const GIB: usize = 1 << 30;

#[test]
fn blocks_lie_first_fit_in_granules_of_two_mib() {
    let _device = device();
    let [a, b, c] = [1, 3 * MIB, 2 * MIB].map(malloc);
    assert_eq!([a, b, c], [BASE, BASE + 2 * MIB, BASE + 6 * MIB]);
    assert_eq!(simulated_cuda_used(), 8 << 20);
    assert_eq!(cudaFree(b), 0);
    assert_eq!([malloc(2 * MIB), malloc(4 * MIB), malloc(MIB)], [b, BASE + 8 * MIB, BASE + 4 * MIB]);
    for address in [BASE, BASE + 2 * MIB, BASE + 4 * MIB, BASE + 6 * MIB, BASE + 8 * MIB] {
        assert_eq!(cudaFree(address), 0);
    }
    assert_eq!([cudaFree(0), cudaFree(BASE), cudaGetLastError()], [0, 1, 1]);
}

#[test]
fn more_than_the_device_has_is_out_of_memory_and_told_once() {
    let _device = device();
    let (mut free, mut total, mut none) = (0, 0, 1);
    let most = malloc(80 * GIB - 2 * MIB);
    assert_eq!(cudaMalloc(&mut none, 2 * MIB + 1), 2);
    assert_eq!((none, cudaGetLastError(), cudaGetLastError()), (0, 2, 0));
    let last = malloc(2 * MIB);
    assert_eq!(cudaMemGetInfo(&mut free, &mut total), 0);
    assert_eq!((free, total), (0, 80 * GIB));
    assert_eq!([cudaMalloc(&mut none, 1), cudaMalloc(&mut none, usize::MAX)], [2, 2]);
    assert_eq!([cudaFree(most), cudaFree(last), cudaGetLastError()], [0, 0, 2]);
}

#[test]
fn device_memory_is_shared_memory_and_zeros_cost_none() {
    let _device = device();
    let block = malloc(GIB);
    let (shared, private) = (status("RssShmem"), status("RssAnon"));
    // SAFETY: a block of this size.
    assert_eq!(unsafe { cudaMemset(block, 0, GIB) }, 0);
    assert!(download::<u64>(block, 8 * MIB).iter().all(|word| *word == 0));
    upload(block, &vec![0_u8; 64 * MIB]);
    assert!(status("RssShmem") - shared < 1.0);
    let values: Vec<u32> = (1..=16 << 20).collect();
    upload(block + MIB + 4, &values);
    assert!((status("RssShmem") - shared - 64.0).abs() < 1.0);
    assert!((status("RssAnon") - private - 64.0).abs() < 8.0);
    let got = download::<u32>(block, (64 << 18) + (1 << 19));
    assert!(got[..(1 << 18) + 1].iter().all(|value| *value == 0));
    assert!(got[(1 << 18) + 1..][..values.len()] == values[..]);
    // SAFETY: a block of this size.
    assert_eq!(unsafe { cudaMemset(block, 7, 3) }, 0);
    assert_eq!(download::<u8>(block, 4), [7, 7, 7, 0]);
    assert_eq!(cudaFree(block), 0);
    assert!(status("RssShmem") - shared < 1.0);
}

#[test]
fn a_copy_of_memory_that_is_not_allocated_is_refused() {
    let _device = device();
    let block = malloc(2 * MIB);
    let mut byte = 0_u8;
    let host = (&raw mut byte).expose_provenance();
    // SAFETY: refused before anything is touched.
    let refused = unsafe { [cudaMemcpy(host, block + 2 * MIB, 1, 2), cudaMemcpy(block + MIB, block, 2 * MIB, 3)] };
    assert_eq!((refused, cudaGetLastError()), ([1, 1], 1));
    assert_eq!(cudaFree(block), 0);
}

#[test]
fn physical_memory_is_mapped_at_reserved_addresses() {
    let _device = device();
    assert_eq!(driver::cuInit(0), 0);
    let (mut range, mut other, mut first, mut second) = (0, 0, 0, 0);
    assert_eq!(cuMemAddressReserve(&mut range, 90 * GIB, 0, 0, 0), 0);
    assert_eq!(cuMemAddressReserve(&mut other, 2 * MIB, 0, 0, 0), 0);
    assert_eq!([range, other], [0x6000_0000_0000, 0x6000_0000_0000 + 90 * GIB]);
    assert_eq!(cuMemCreate(&mut first, 2 * MIB, None, 0), 0);
    assert_eq!(cuMemCreate(&mut second, 20 * MIB, None, 0), 0);
    assert_eq!(simulated_cuda_used(), 22 << 20);
    assert_eq!(cuMemCreate(&mut 0, 80 * GIB, None, 0), 2);
    assert_eq!(cuMemMap(range, 2 * MIB, 0, first, 0), 0);
    assert_eq!(cuMemMap(range, 2 * MIB, 0, first, 0), 1, "mapped already");
    assert_eq!(cuMemMap(range + 2 * MIB, 20 * MIB, 0, second, 0), 0);
    assert_eq!(cuMemMap(other, 2 * MIB, 0, first, 0), 0);
    for (address, bytes) in [(range, 22 * MIB), (other, 2 * MIB)] {
        assert_eq!(cuMemSetAccess(address, bytes, &[1, 0, 3], 1), 0);
    }
    let values: Vec<u32> = (0..1 << 20).collect();
    upload(range, &values);
    assert!(download::<u32>(range, values.len()) == values, "a copy crosses from one mapping into the next");
    assert!(download::<u32>(other, 1 << 19) == values[..1 << 19], "two addresses of the same memory");
    assert_eq!([cuMemRelease(first), cuMemRelease(second)], [0, 0]);
    assert_eq!(cuMemUnmap(range, 22 * MIB), 0);
    assert_eq!(simulated_cuda_used(), 2 << 20, "still mapped at the other address");
    assert_eq!([cuMemAddressFree(other, 2 * MIB), cuMemUnmap(other, 2 * MIB), cuMemUnmap(other, 2 * MIB)], [1, 0, 1]);
    assert_eq!([cuMemAddressFree(range, 90 * GIB), cuMemAddressFree(other, 2 * MIB)], [0, 0]);
}

#[test]
fn pinned_memory_is_known_and_belongs_to_the_host() {
    let _device = device();
    let kind = |pointer| {
        let mut attributes = [0; 11];
        assert_eq!(cudaPointerGetAttributes(&mut attributes, pointer), 0);
        attributes[0] as u32
    };
    let (block, mut pinned) = (malloc(1), 0);
    assert_eq!(cudaHostAlloc(&mut pinned, 64 * MIB, 0), 0);
    let vector = vec![0_u8; MIB];
    let host = vector.as_ptr().expose_provenance();
    assert_eq!([kind(block), kind(pinned), kind(pinned + 64 * MIB - 1), kind(host)], [2, 1, 1, 0]);
    assert_eq!([cudaHostRegister(host, MIB, 0), cudaHostRegister(host, MIB, 0)], [0, 712]);
    assert_eq!(kind(host + MIB - 1), 1);
    assert_eq!([cudaHostUnregister(host), cudaHostUnregister(host)], [0, 713]);
    assert_eq!(kind(host), 0);
    let (shared, private) = (status("RssShmem"), status("RssAnon"));
    // SAFETY: pinned memory of this size.
    assert_eq!(unsafe { cudaMemset(pinned, 1, 64 * MIB) }, 0);
    assert!((status("RssAnon") - private - 64.0).abs() < 8.0 && status("RssShmem") - shared < 1.0);
    assert_eq!([cudaFree(block), cudaFreeHost(pinned), cudaFreeHost(pinned)], [0, 0, 1]);
    assert_eq!((kind(pinned), cudaGetLastError()), (0, 1));
}
