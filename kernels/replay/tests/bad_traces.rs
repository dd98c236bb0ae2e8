//! What the reader of JSON lines says to traces that are broken.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

use replay::trace::{Header, Line, Reader};

const HEADER: &str =
    r#"{"i":0,"op":"header","stream_order":[0],"config":"","meta":{"name":"n","device_total":1,"torch":"2.13.0"},"#;
const NOTHING: &str = r#""cuda":[],"trace":[],"allocated":0,"reserved":0,"active":0,"requested":0,"inactive_split":0,"nseg":0,"retries":0,"ooms":0}"#;

fn read(ops: &[&str]) -> Result<(Header, Vec<Line>), String> {
    let mut text = format!("{HEADER}{NOTHING}\n");
    for op in ops {
        text += &format!("{{\"i\":1,{op},{NOTHING}\n");
    }
    read_text(&text)
}

fn read_text(text: &str) -> Result<(Header, Vec<Line>), String> {
    let (header, reader) = Reader::new(text.as_bytes()).map_err(|error| error.to_string())?;
    let lines = reader.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok((header, lines))
}

fn refused(ops: &[&str], words: &str) {
    let error = read(ops).unwrap_err();
    assert!(error.contains(words), "{ops:?} is refused with {error:?}, without {words:?}");
}

const MALLOC: &str = r#""op":"malloc","id":1,"size":2,"stream":0,"addr":512"#;
const FREE: &str = r#""op":"free","id":1,"addr":512"#;

#[test]
fn a_sound_trace_is_read() {
    let (header, lines) = read(&[MALLOC, FREE, MALLOC]).unwrap();
    assert_eq!(header.meta.device_total, 1);
    assert_eq!(lines.iter().map(|line| line.op.name()).collect::<Vec<_>>(), ["malloc", "free", "malloc"]);
    assert_eq!(lines[2].number, 4);
}

#[test]
fn lines_that_say_nothing_known_are_refused() {
    refused(&[r#""op":"realloc""#], "line 2: unknown op \"realloc\"");
    refused(&[MALLOC, r#""op":"free","id":1,"colour":3"#], "line 3: unknown field `colour`");
    refused(&[r#""op":"malloc","id":1,"size":2,"stream":0"#], "line 2: the key \"addr\" is missing");
    refused(&[r#""op":"malloc","id":"one","size":2,"stream":0,"addr":1"#], "line 2: invalid type");
}

#[test]
fn numbers_out_of_range_are_refused() {
    refused(&[r#""op":"malloc","id":1,"size":-2,"stream":0,"addr":512"#], "line 2: invalid value: integer `-2`");
    refused(&[r#""op":"malloc","id":1,"size":18446744073709551616,"stream":0,"addr":512"#], "line 2: invalid");
}

#[test]
fn blocks_that_are_not_allocated_are_refused() {
    refused(&[MALLOC, FREE, FREE], "line 4: block 1 is freed and is not allocated, or no longer");
    refused(&[FREE], "line 2: block 1 is freed");
    refused(&[MALLOC, MALLOC], "line 3: block 1 is allocated and was not freed before");
    refused(&[r#""op":"record_stream","id":7,"stream":0"#], "line 2: block 7 is used on a stream");
    refused(&[MALLOC, r#""op":"free","id":1,"skipped":true"#], "line 3: block 1 is skipped");
}

#[test]
fn a_line_cut_short_is_said() {
    let error = read_text(&format!("{HEADER}{NOTHING}\n{{\"i\":1,\"op\":\"emp")).unwrap_err();
    assert_eq!(error, "line 2: the line is cut short");
    assert_eq!(read_text("").unwrap_err(), "line 1: the file is empty");
    assert!(read_text(&format!("{{\"i\":0,\"op\":\"empty_cache\",{NOTHING}")).unwrap_err().contains("not \"header\""));
}
