//! The order of work: what is queued on a stream is carried out before what comes after it.

use crate::copies::carry_out;
use crate::errors::Error;
use crate::memory::Owner;
use crate::state::State;
use crate::streams::Queued;

impl State {
    /// Whether a stream records what it is asked for, instead of doing it.
    pub fn captured(&mut self, stream: u64, call: &str) -> bool {
        let captured = self.graphs.captured(stream);
        if captured {
            self.kernels.record(call);
        }
        captured
    }

    /// Whether an asynchronous copy stays queued: one between the device and pinned memory. From other memory of the
    /// host it is staged at once, and to it it is done when the call returns.
    pub fn stays_queued(&self, copy: Queued) -> bool {
        let pinned = |address: u64| {
            let found = self.memory.find(address).filter(|(_, _, owner)| *owner == Owner::Pinned);
            found.is_some_and(|(start, length, _)| copy.bytes <= length - (address - start))
        };
        match (self.memory.is_device(copy.to), self.memory.is_device(copy.from)) {
            (true, false) => pinned(copy.from),
            (false, true) => pinned(copy.to),
            _ => false,
        }
    }

    /// Queues a copy, whose part of the device must be there.
    pub fn queue(&mut self, stream: u64, copy: Queued) -> Result<(), Error> {
        let device = if self.memory.is_device(copy.to) { copy.to } else { copy.from };
        self.memory.pieces(device, copy.bytes)?;
        self.streams.queue(stream, copy)
    }

    /// Carries out what comes before work that is asked for on a stream now.
    pub fn before_work(&mut self, stream: u64) -> Result<(), Error> {
        let copies = self.streams.before_work(stream)?;
        carry_out(&self.memory, &copies);
        Ok(())
    }

    /// Puts a kernel that spins into a stream: whether it is there, and not only captured.
    pub fn gate(&mut self, stream: u64) -> Result<bool, Error> {
        if self.graphs.captured(stream) {
            return Ok(false);
        }
        self.before_work(stream)?;
        self.streams.gate(stream)?;
        Ok(true)
    }

    /// Frees a block of device memory, after everything that is queued: how large it was.
    pub fn free(&mut self, address: u64) -> Result<u64, Error> {
        self.before_memory_goes();
        self.memory.free(address)
    }

    /// Frees pinned memory, after everything that is queued: how large it was.
    pub fn free_pinned(&mut self, address: u64) -> Result<u64, Error> {
        self.before_memory_goes();
        self.memory.free_pinned(address)
    }

    /// Forgets a registered range, after everything that is queued.
    pub fn unregister(&mut self, address: u64) -> Result<(), Error> {
        self.before_memory_goes();
        self.memory.unregister(address)
    }

    /// Undoes mappings, after everything that is queued.
    pub fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        self.before_memory_goes();
        self.memory.unmap(address, bytes)
    }

    /// Allows or forbids the use of a mapped range, after everything that is queued.
    pub fn set_access(&mut self, address: u64, bytes: u64, read: bool, write: bool) -> Result<(), Error> {
        self.before_memory_goes();
        self.memory.set_access(address, bytes, read, write)
    }

    fn before_memory_goes(&mut self) {
        let copies = self.streams.queued();
        carry_out(&self.memory, &copies);
    }

    /// Completes everything on a stream, and what that waits for.
    pub fn synchronize(&mut self, stream: u64) -> Result<(), Error> {
        let copies = self.streams.synchronize(stream)?;
        carry_out(&self.memory, &copies);
        Ok(())
    }

    /// Completes everything.
    pub fn synchronize_all(&mut self) {
        let copies = self.streams.synchronize_all();
        carry_out(&self.memory, &copies);
    }

    /// Completes an event and what its stream holds before it.
    pub fn synchronize_event(&mut self, event: u64) -> Result<(), Error> {
        let copies = self.streams.synchronize_event(event)?;
        carry_out(&self.memory, &copies);
        Ok(())
    }

    /// Whether everything on a stream has completed. A program may ask until it has: asking lets copies happen.
    pub fn query(&mut self, stream: u64) -> Result<(), Error> {
        self.before_work(stream)?;
        self.streams.query(stream)
    }

    /// Whether an event has completed; asking lets copies happen.
    pub fn query_event(&mut self, event: u64) -> Result<(), Error> {
        let copies = self.streams.before_event(event)?;
        carry_out(&self.memory, &copies);
        self.streams.query_event(event)
    }

    /// Destroys a stream, whose work completes.
    pub fn destroy_stream(&mut self, stream: u64) -> Result<(), Error> {
        let copies = self.streams.destroy(stream)?;
        carry_out(&self.memory, &copies);
        Ok(())
    }
}
