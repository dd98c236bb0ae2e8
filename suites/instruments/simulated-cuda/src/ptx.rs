//! The text of a module.

use crate::errors::Error;
use std::collections::BTreeSet;

/// The names of the kernels in a PTX text.
pub fn entries(text: &str) -> Result<BTreeSet<String>, Error> {
    let text = without_comments(text);
    let mut words = text.split(|letter: char| letter.is_whitespace() || "(){},;".contains(letter));
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    if words.next() != Some(".version") {
        return Err(Error::INVALID_IMAGE);
    }
    let mut names = BTreeSet::new();
    let mut target = false;
    while let Some(word) = words.next() {
        target |= word == ".target";
        if word == ".entry" {
            names.insert(words.next().ok_or(Error::INVALID_PTX)?.to_owned());
        }
    }
    if target { Ok(names) } else { Err(Error::INVALID_PTX) }
}

fn without_comments(text: &str) -> String {
    let (mut rest, mut kept) = (text, String::new());
    while let Some(start) = rest.find('/') {
        let (before, comment) = rest.split_at(start);
        kept.push_str(before);
        rest = match comment.as_bytes().get(1) {
            Some(b'/') => comment.find('\n').map_or("", |end| &comment[end..]),
            Some(b'*') => comment[2..].split_once("*/").map_or("", |(_, rest)| rest),
            _ => {
                kept.push('/');
                &comment[1..]
            }
        };
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::entries;
    use crate::errors::Error;

    #[test]
    fn kernels_are_found_where_they_stand_and_not_in_comments() {
        let text = "//\n// Generated, .entry no\n/* .entry neither */\n.version 9.0\n.target sm_90\n.address_size 64\n\
            \t// .globl\tfill_f32\n.visible .entry fill_f32(\n.param .u64 a)\n{ ret; }\n.entry\n add_i64 (.param .u64 b)\n\
            .maxntid 256 {}\n.func other() {}";
        let names: Vec<String> = entries(text).unwrap().into_iter().collect();
        assert_eq!(names, ["add_i64", "fill_f32"]);
    }

    #[test]
    fn other_texts_are_refused() {
        assert_eq!(entries("\x7fELF"), Err(Error::INVALID_IMAGE));
        assert_eq!(entries("// .version 9.0"), Err(Error::INVALID_IMAGE));
        assert_eq!(entries(".version 9.0\n.entry a() {}"), Err(Error::INVALID_PTX));
    }
}
