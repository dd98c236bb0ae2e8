//! What to say about a name that is not known: the names nearest to it.

const SHOWN: usize = 3;
const NEAR: f64 = 0.8;
/// A longer list of all names helps nobody.
const LISTED: usize = 12;

/// A sentence that names the unknown word and those that are near it.
pub fn unknown(kind: &str, word: &str, known: &[&str]) -> String {
    let mut near: Vec<(f64, &str)> = known.iter().map(|name| (nearness(word, name), *name)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<&str> =
        near.into_iter().take(SHOWN).filter(|(score, _)| *score > NEAR).map(|(_, name)| name).collect();
    if !near.is_empty() {
        format!("unknown {kind} \"{word}\"; did you mean {}?", near.join(" or "))
    } else if known.len() <= LISTED {
        format!("unknown {kind} \"{word}\"; known are: {}", known.join(", "))
    } else {
        format!("unknown {kind} \"{word}\"; nothing has a name like it")
    }
}

/// How near a word is to a name or to one of its parts, from 0 to 1.
fn nearness(word: &str, name: &str) -> f64 {
    let parts = name.split(['.', ' ']).map(|part| strsim::jaro_winkler(word, part));
    parts.chain([strsim::jaro_winkler(word, name)]).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        let known = ["reference", "pytorch", "numpy"];
        assert_eq!(unknown("subject", "pytroch", &known), "unknown subject \"pytroch\"; did you mean pytorch?");
        assert!(unknown("subject", "xyz", &known).contains("known are: reference, pytorch, numpy"));
        assert_eq!(
            unknown("claim", "halvng", &["t000.dtype.halving"]),
            "unknown claim \"halvng\"; did you mean t000.dtype.halving?"
        );
    }
}
