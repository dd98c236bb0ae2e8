//! An ordered set in runs: small enough to shift, few enough to search.

/// The longest run; one that grows beyond is cut in two.
const RUN: usize = 64;

/// Where an element lies: its run, and where in it. Good until the set changes.
pub(super) type Spot = (usize, usize);

/// An ordered set whose elements lie side by side in runs. Allocators search, insert and remove all the time, mostly in
/// short sets: for them this takes a fraction of what a tree of nodes does.
#[derive(Debug)]
pub(super) struct Sorted<T> {
    runs: Vec<Vec<T>>,
}

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Sorted { runs: vec![Vec::with_capacity(RUN)] }
    }
}

impl<T: Copy + Ord> Sorted<T> {
    /// Where the first element lies, or would, that is not below this one.
    #[inline]
    fn spot(&self, element: &T) -> Spot {
        let last = self.runs.len() - 1;
        let below = |run: &Vec<T>| run.last().is_some_and(|greatest| greatest < element);
        let run = if last == 0 { 0 } else { self.runs[..last].partition_point(below) };
        (run, self.runs[run].partition_point(|other| other < element))
    }

    /// Puts an element in.
    #[inline]
    pub fn insert(&mut self, element: T) {
        let (run, place) = self.spot(&element);
        self.runs[run].insert(place, element);
        if self.runs[run].len() > RUN {
            let behind = self.runs[run].split_off(RUN / 2);
            self.runs.insert(run + 1, behind);
        }
    }

    /// The first element that is not below this one, and where it lies.
    #[inline]
    pub fn first_from(&self, element: T) -> Option<(Spot, T)> {
        let spot = self.spot(&element);
        self.runs[spot.0].get(spot.1).map(|first| (spot, *first))
    }

    /// Takes the element out that lies there.
    #[inline]
    pub fn remove_at(&mut self, (run, place): Spot) {
        self.runs[run].remove(place);
        if self.runs[run].is_empty() && self.runs.len() > 1 {
            self.runs.remove(run);
        }
    }

    /// Takes an element out, where it is in.
    #[inline]
    pub fn remove(&mut self, element: &T) {
        let spot = self.spot(element);
        if self.runs[spot.0].get(spot.1) == Some(element) {
            self.remove_at(spot);
        }
    }

    /// The elements that are not below this one, the least first.
    #[inline]
    pub fn from(&self, element: T) -> impl Iterator<Item = T> + '_ {
        let (run, place) = self.spot(&element);
        self.runs[run][place..].iter().chain(self.runs[run + 1..].iter().flatten()).copied()
    }

    /// The elements below this one, the greatest first.
    pub fn below(&self, element: T) -> impl Iterator<Item = T> + '_ {
        let (run, place) = self.spot(&element);
        let before = self.runs[..run].iter().rev().flat_map(|run| run.iter().rev());
        self.runs[run][..place].iter().rev().chain(before).copied()
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.runs.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::Sorted;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// It holds what the standard library's set holds, in the same order, from every place on.
        #[test]
        fn agrees_with_a_tree(steps in prop::collection::vec((any::<bool>(), 0u16..400), 0..1500), at in 0u16..400) {
            let (mut sorted, mut tree) = (Sorted::default(), BTreeSet::new());
            for (insert, element) in steps {
                if insert && tree.insert(element) {
                    sorted.insert(element);
                } else {
                    tree.remove(&element);
                    sorted.remove(&element);
                }
            }
            prop_assert!(sorted.iter().eq(tree.iter().copied()));
            prop_assert!(sorted.from(at).eq(tree.range(at..).copied()));
            prop_assert!(sorted.below(at).eq(tree.range(..at).rev().copied()));
        }
    }
}
