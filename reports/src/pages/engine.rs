//! The templates, compiled in.

use super::frame::Frame;
use serde::Serialize;
use tera::{Context, Tera};

const TEMPLATES: [(&str, &str); 13] = [
    ("base.html", include_str!("../../templates/base.html")),
    ("parts.html", include_str!("../../templates/parts.html")),
    ("index.html", include_str!("../../templates/index.html")),
    ("matrix.html", include_str!("../../templates/matrix.html")),
    ("errata.html", include_str!("../../templates/errata.html")),
    ("claim.html", include_str!("../../templates/claim.html")),
    ("workload.html", include_str!("../../templates/workload.html")),
    ("known.html", include_str!("../../templates/known.html")),
    ("machine.html", include_str!("../../templates/machine.html")),
    ("memory.html", include_str!("../../templates/memory.html")),
    ("memory-case.html", include_str!("../../templates/memory-case.html")),
    ("glossary.html", include_str!("../../templates/glossary.html")),
    ("tables.html", include_str!("../../templates/tables.html")),
];

/// The compiled templates.
pub struct Engine {
    tera: Tera,
}

impl Engine {
    /// Compiles them.
    pub fn new() -> Result<Self, String> {
        let mut tera = Tera::default();
        tera.add_raw_templates(TEMPLATES).map_err(|error| error.to_string())?;
        Ok(Engine { tera })
    }

    /// Renders one page; templates see the frame as `page` and the page's own data as `v`.
    pub fn page(&self, template: &str, frame: &Frame, data: &impl Serialize) -> Result<(String, String), String> {
        #[derive(Serialize)]
        struct Both<'a, T> {
            page: &'a Frame,
            v: &'a T,
        }
        let named = |error: tera::Error| format!("{}: {error}", frame.path);
        let context = Context::from_serialize(&Both { page: frame, v: data }).map_err(named)?;
        let html = self.tera.render(template, &context).map_err(named)?;
        Ok((frame.path.clone(), html))
    }
}
