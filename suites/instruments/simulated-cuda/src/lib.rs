//! A CUDA runtime, driver and management library over a device that is not there.
//!
//! A program that is linked to CUDA 13 runs over it unchanged: allocations, copies, streams and events behave as the
//! program may rely on, and a few simple kernels are computed. It shows what a program does with device memory; it says
//! nothing about time. What is modelled and how a program is started over it stands in `docs/simulated-cuda.md`.
//!
//! The exported functions have the names and types of CUDA's own and are called through them. Only 64-bit
//! little-endian Linux is served; elsewhere the library is empty.
#![allow(non_snake_case, reason = "the names are those of CUDA")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod backing;
mod contexts;
mod control;
mod copies;
mod device;
mod driver;
mod elements;
mod ending;
mod engine;
mod errors;
mod graphs;
mod injection;
mod kernels;
mod log;
mod memory;
mod modules;
mod nvml;
mod order;
mod places;
mod ptx;
mod recognise;
mod runtime;
mod settings;
mod space;
mod state;
mod streams;
mod walk;
