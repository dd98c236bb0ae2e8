//! Places in the caller's memory for answers.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

/// A place for an answer; CUDA's callers may pass none.
pub type Place<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// Writes an answer where a place was given.
pub fn put<T>(place: Place<'_, T>, value: T) {
    if let Some(place) = place {
        place.write(value);
    }
}

/// Writes a text and its closing zero, cut to `room` bytes.
///
/// # Safety
/// `place` is null or has `room` bytes.
pub unsafe fn put_text(place: *mut c_char, room: usize, text: &CStr) {
    let text = text.to_bytes();
    let Some(most) = room.checked_sub(1).filter(|_| !place.is_null()) else { return };
    let length = text.len().min(most);
    // SAFETY: `length` bytes and the zero fit into `room`.
    unsafe {
        place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), length);
        place.add(length).write(0);
    }
}
