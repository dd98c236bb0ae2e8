//! The style sheet's colours: enough contrast on both grounds in both schemes, and subjects that stay apart for readers
//! who see fewer colours.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

use std::collections::BTreeMap;

const STYLE: &str = include_str!("../templates/style.css");

type Rgb = [f64; 3];

/// The colour tokens of the first block after `start`, over those of `base`.
fn tokens(start: &str, base: &BTreeMap<String, Rgb>) -> BTreeMap<String, Rgb> {
    let block = STYLE.split_once(start).unwrap().1.split_once('{').unwrap().1;
    let block = block.split('}').next().unwrap();
    let mut tokens = base.clone();
    for declaration in block.split([';', '{']) {
        if let Some((name, value)) = declaration.trim().split_once(": #") {
            tokens.insert(name.trim_start_matches("--").into(), colour(value));
        }
    }
    tokens
}

fn colour(hex: &str) -> Rgb {
    let long: String = if hex.len() == 3 { hex.chars().flat_map(|c| [c, c]).collect() } else { hex.into() };
    [0, 2, 4].map(|i| f64::from(u8::from_str_radix(&long[i..i + 2], 16).unwrap()) / 255.0)
}

fn linear(rgb: Rgb) -> Rgb {
    rgb.map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) })
}

fn contrast(a: Rgb, b: Rgb) -> f64 {
    let luminance = |rgb| {
        let [r, g, b] = linear(rgb);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// CIE 1976 L*a*b* under D65.
fn lab(linear: Rgb) -> Rgb {
    let [r, g, b] = linear;
    let xyz = [
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.950_47,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.088_83,
    ];
    let [x, y, z] = xyz.map(|t| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Machado, Oliveira and Fernandes 2009, severity 1, on linear light.
const DEFICIENCIES: [(&str, [Rgb; 3]); 3] = [
    ("protanopia", [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    ("deuteranopia", [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    ("tritanopia", [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
];

fn schemes() -> [(&'static str, BTreeMap<String, Rgb>); 3] {
    let light = tokens(":root", &BTreeMap::new());
    let dark = tokens("@media (prefers-color-scheme: dark)", &BTreeMap::new());
    let print = tokens("@media print", &light);
    [("light", light), ("dark", dark), ("print", print)]
}

#[test]
fn text_and_graphics_have_enough_contrast() {
    const TEXT: [&str; 7] = ["ink", "ink-2", "link", "good", "part", "bad", "idle"];
    for (scheme, tokens) in schemes() {
        for ground in ["paper", "wash"] {
            let check = |name: &str, least: f64| {
                let found = contrast(tokens[name], tokens[ground]);
                assert!(found >= least, "{scheme}: {name} on {ground} has {found:.2}, needs {least}");
            };
            for name in TEXT {
                check(name, 4.5);
            }
            check("rule-2", 3.0);
            check("held", 3.0);
        }
        for name in tokens.keys().filter(|name| name.starts_with("s-")) {
            // Subjects' names stand in their colours.
            let found = contrast(tokens[name], tokens["paper"]);
            assert!(found >= 4.5, "{scheme}: {name} has {found:.2}");
        }
        for name in ["good", "part", "bad", "idle"] {
            let found = contrast(tokens[name], tokens[&format!("{name}-w")]);
            assert!(scheme == "print" || found >= 4.5, "{scheme}: {name} on its badge has {found:.2}");
        }
    }
}

#[test]
fn both_schemes_set_every_colour() {
    let [(_, light), (_, dark), (_, print)] = schemes();
    assert!(light.len() >= 22, "{light:?}");
    for name in light.keys() {
        assert_ne!(light[name], dark[name], "{name} is the same in the dark");
    }
    assert_eq!(light.keys().collect::<Vec<_>>(), print.keys().collect::<Vec<_>>());
}

#[test]
fn subjects_stay_apart_for_readers_who_see_fewer_colours() {
    const SUBJECTS: [&str; 7] = ["reference", "pytorch", "numpy", "jax", "candle", "burn", "ndarray"];
    for (scheme, tokens) in schemes() {
        for (deficiency, matrix) in DEFICIENCIES {
            let seen = SUBJECTS.map(|subject| {
                let [r, g, b] = linear(tokens[&format!("s-{subject}")]);
                lab(matrix.map(|row| (row[0] * r + row[1] * g + row[2] * b).clamp(0.0, 1.0)))
            });
            for (i, a) in seen.iter().enumerate() {
                for (j, b) in seen.iter().enumerate().skip(i + 1) {
                    let distance = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
                    assert!(
                        distance >= 12.0,
                        "{scheme}, {deficiency}: {} and {}: {distance:.1}",
                        SUBJECTS[i],
                        SUBJECTS[j]
                    );
                }
            }
        }
    }
}

#[test]
fn colours_stand_in_tokens_alone() {
    for line in STYLE.lines().filter(|line| line.contains('#')) {
        assert!(line.trim_start().starts_with("--") || line.trim_start().starts_with("color-scheme"), "{line}");
    }
}
