//! The machine's limit: plain loops that touch memory and nothing more. No operation of the engine calls them.

/// Reads every element once. The sum is what keeps the reads; it is exact only as far as f32 accumulators are.
pub fn read(from: &[f32]) -> f32 {
    let (groups, rest) = from.as_chunks::<32>();
    let mut lanes = [0.0; 32];
    for group in groups {
        lanes.iter_mut().zip(group).for_each(|(lane, element)| *lane += element);
    }
    lanes.iter().chain(rest).sum()
}

/// Writes one value into every element.
pub fn fill(to: &mut [f32], value: f32) {
    to.fill(value);
}

/// Reads every element of one slice and writes it into the other, as far as the shorter one goes.
pub fn copy(from: &[f32], to: &mut [f32]) {
    let length = from.len().min(to.len());
    to[..length].copy_from_slice(&from[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_touched_and_no_other() {
        let numbers: Vec<f32> = (0..70).map(|k| k as f32).collect();
        assert_eq!(read(&numbers), 2415.0);
        let mut target = vec![9.0; 72];
        copy(&numbers, &mut target);
        assert_eq!((&target[..70], &target[70..]), (&numbers[..], &[9.0, 9.0][..]));
        fill(&mut target[1..], 3.0);
        assert_eq!(read(&target), 71.0 * 3.0);
    }
}
