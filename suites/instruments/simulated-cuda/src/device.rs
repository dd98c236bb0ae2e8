//! What the device says of itself.

use std::ffi::{CStr, c_int};

/// The name that every program sees.
pub const NAME: &CStr = c"Simulated CUDA device";
pub const UUID: [u8; 16] = *b"simulated-cuda-0";
pub const UUID_TEXT: &CStr = c"GPU-73696d75-6c61-7465-642d-637564612d30";
pub const PCI_BUS_ID: &CStr = c"0000:01:00.0";
/// Where a version is a text, it says what this is.
pub const DRIVER_VERSION_TEXT: &CStr = c"Simulated CUDA device";
/// CUDA 13.0.
pub const VERSION: c_int = 13000;
/// The lowest and the highest priority of a stream.
pub const PRIORITIES: (c_int, c_int) = (0, -5);
/// Bytes of `cudaDeviceProp` in CUDA 13.
pub const PROPERTIES_BYTES: usize = 1008;

/// A number by which the device is known: its attribute number, and where it stands in `cudaDeviceProp` of CUDA 13
/// with how many bytes.
struct Property {
    attribute: c_int,
    offset: usize,
    bytes: usize,
    value: u32,
}

const fn property(attribute: c_int, offset: usize, bytes: usize, value: u32) -> Property {
    Property { attribute, offset, bytes, value }
}

/// The size of the card is that of a large one of compute capability 9.0: libraries derive the sizes of their
/// workspaces from it.
static PROPERTIES: [Property; 42] = [
    property(1, 320, 4, 1024),           // threads of a block
    property(2, 324, 4, 1024),           // block x
    property(3, 328, 4, 1024),           // block y
    property(4, 332, 4, 64),             // block z
    property(5, 336, 4, 2_147_483_647),  // grid x
    property(6, 340, 4, 65_535),         // grid y
    property(7, 344, 4, 65_535),         // grid z
    property(8, 296, 8, 49_152),         // shared memory of a block
    property(9, 352, 8, 65_536),         // constant memory
    property(10, 308, 4, 32),            // warp
    property(11, 312, 8, 2_147_483_647), // pitch
    property(12, 304, 4, 65_536),        // registers of a block
    property(14, 368, 8, 512),           // texture alignment
    property(16, 384, 4, 132),           // multiprocessors
    property(19, 392, 4, 1),             // maps host memory
    property(31, 560, 4, 1),             // concurrent kernels
    property(33, 568, 4, 1),             // PCI bus
    property(37, 592, 4, 5120),          // bits of the memory bus
    property(38, 596, 4, 50 << 20),      // second-level cache
    property(39, 604, 4, 2048),          // threads of a multiprocessor
    property(40, 584, 4, 3),             // copy engines
    property(41, 588, 4, 1),             // unified addressing
    property(75, 360, 4, 9),             // compute capability, major
    property(76, 364, 4, 0),             // compute capability, minor
    property(78, 608, 4, 1),             // stream priorities
    property(81, 624, 8, 233_472),       // shared memory of a multiprocessor
    property(82, 632, 4, 65_536),        // registers of a multiprocessor
    property(83, 636, 4, 1),             // managed memory
    property(89, 656, 4, 1),             // concurrent managed access
    property(90, 660, 4, 1),             // compute preemption
    property(91, 664, 4, 1),             // host pointers of registered memory
    property(95, 668, 4, 1),             // cooperative launch
    property(97, 672, 8, 232_448),       // shared memory of a block, on demand
    property(99, 704, 4, 1),             // registers host memory
    property(106, 688, 4, 32),           // blocks of a multiprocessor
    property(111, 696, 8, 1024),         // shared memory kept back
    property(115, 720, 4, 0),            // memory pools
    property(120, 748, 4, 1),            // clusters
    property(129, 752, 4, 1),            // unified function pointers
    property(102, 0, 0, 1),              // virtual memory management
    property(13, 0, 0, 1_980_000),       // clock, kHz
    property(36, 0, 0, 2_619_000),       // memory clock, kHz
];

/// The value of an attribute; 0, which is "not there", for all that are not listed.
pub fn attribute(attribute: c_int) -> c_int {
    let found = PROPERTIES.iter().find(|property| property.attribute == attribute);
    found.map_or(0, |property| property.value as c_int)
}

/// `cudaDeviceProp` of CUDA 13, for a device with `memory` bytes.
pub fn properties(memory: u64) -> [u8; PROPERTIES_BYTES] {
    let mut answer = [0; PROPERTIES_BYTES];
    let mut put = |offset: usize, bytes: &[u8]| {
        answer.iter_mut().skip(offset).zip(bytes).for_each(|(to, from)| *to = *from);
    };
    put(0, NAME.to_bytes());
    put(256, &UUID);
    put(288, &memory.to_le_bytes());
    for property in &PROPERTIES {
        put(property.offset, &u64::from(property.value).to_le_bytes()[..property.bytes]);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::{attribute, properties};

    #[test]
    fn properties_and_attributes_agree() {
        let properties = properties(4 << 30);
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| properties[at + byte]));
        assert_eq!(&properties[..22], b"Simulated CUDA device\0");
        assert_eq!((word(288), word(292)), (0, 1));
        assert_eq!((word(360), word(364), word(384), word(604)), (9, 0, 132, 2048));
        assert_eq!([75, 76, 16, 39, 9999].map(attribute), [9, 0, 132, 2048, 0]);
    }
}
