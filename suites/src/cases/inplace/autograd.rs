//! What autograd says of writes in place.

use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

const AVOID: &str = "t000.inplace.avoid-on-autograd";

/// The cases of this theme.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("inplace.writes-count-versions", &[], writes_count_versions),
        Case::new("inplace.adding-a-leaf-tracks-the-target", &[], adding_a_leaf_tracks),
        Case::pytorch("inplace.uncounted-write-gives-a-wrong-gradient", &[], uncounted_writes),
    ];
    cases.extend(saved_values());
    cases.extend(leaves());
    cases
}

type Forward = fn(&Probe, &Handle) -> Result<Handle, Stop>;
type Write = fn(&Probe, &mut Handle) -> Result<(), Stop>;

/// Backward refuses where a value that an operation saved was written since, by whatever counted way.
fn saved_values() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, Forward, Write, Option<&str>); 5] = [
        ("saved-value", |p, y| p.mul(y, y), |p, y| p.add_scalar_(y, 1.0), Some("version")),
        (
            "saved-value-through-a-view",
            |p, y| p.mul(y, y),
            |p, y| p.fill_(&mut p.narrow(y, 0, 0, 1)?, 1.0),
            Some("version"),
        ),
        ("saved-value-through-detach", |p, y| p.mul(y, y), |p, y| p.fill_(&mut p.detach(y)?, 1.0), Some("version")),
        ("term-of-a-sum", |p, y| p.add(y, y), |p, y| p.add_scalar_(y, 1.0), None),
        ("multiple-of-a-number", |p, y| p.mul_scalar(y, 3.0), |p, y| p.add_scalar_(y, 1.0), None),
    ];
    ROWS.into_iter().map(|(name, forward, write, kind)| {
        let claims: &[&str] = if kind.is_some() { &[AVOID] } else { &[] };
        Case::new(format!("inplace.write-to-{name}"), claims, move |p| {
            let mut weight = p.ones([3], DType::F32)?;
            p.requires_grad_(&mut weight, true)?;
            let mut y = p.mul_scalar(&weight, 2.0)?;
            let result = forward(p, &y)?;
            write(p, &mut y)?;
            let fact = p.fact("backward after the write: error", p.kind_of(p.backward(&p.sum(&result)?))?).known(kind);
            if kind.is_some() {
                fact.claimed(AVOID, kind);
            }
            Ok(())
        })
    })
}

/// A leaf that requires grad refuses to be written, itself and through a view, unless nothing is recorded.
fn leaves() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, Write, Option<&str>); 4] = [
        ("leaf", |p, leaf| p.add_scalar_(leaf, 1.0), Some("leaf")),
        ("view-of-a-leaf", |p, leaf| p.add_scalar_(&mut p.view(leaf, [3])?, 1.0), Some("leaf")),
        ("detached-leaf", |p, leaf| p.add_scalar_(&mut p.detach(leaf)?, 1.0), None),
        (
            "leaf-without-recording",
            |p, leaf| {
                p.set_grad_enabled(false)?;
                p.add_scalar_(leaf, 1.0)
            },
            None,
        ),
    ];
    ROWS.into_iter().map(|(name, write, kind)| {
        let claims: &[&str] = if kind.is_some() { &[AVOID] } else { &[] };
        Case::new(format!("inplace.write-to-{name}"), claims, move |p| {
            let mut leaf = p.ones([3], DType::F32)?;
            p.requires_grad_(&mut leaf, true)?;
            let fact = p.fact("kind of error", p.kind_of(write(p, &mut leaf))?).known(kind);
            if kind.is_some() {
                fact.claimed(AVOID, kind);
            }
            let after = if kind.is_some() { 1.0 } else { 2.0 };
            p.fact("values after", p.values(&leaf)?).known([after; 3]);
            Ok(())
        })
    })
}

/// The version counter counts every write to the storage, also through a view and a detached tensor.
fn writes_count_versions(p: &Probe) -> Result<(), Stop> {
    let mut a = p.ones([3], DType::F32)?;
    p.fact("version at the start", p.version(&a)?).known(0);
    p.add_scalar_(&mut a, 1.0)?;
    p.fact("after add_", p.version(&a)?).known(1);
    p.fill_(&mut p.narrow(&a, 0, 0, 1)?, 1.0)?;
    p.fact("after a write through a view", p.version(&a)?).known(2);
    p.zero_(&mut p.detach(&a)?)?;
    p.fact("after a write through detach", p.version(&a)?).known(3);
    Ok(())
}

/// A plain tensor to which a leaf is added in place is recorded from then on.
fn adding_a_leaf_tracks(p: &Probe) -> Result<(), Stop> {
    let mut leaf = p.ones([3], DType::F32)?;
    p.requires_grad_(&mut leaf, true)?;
    let mut plain = p.ones([3], DType::F32)?;
    p.add_(&mut plain, &leaf)?;
    p.fact("requires grad", p.requires_grad(&plain)?).known(true);
    p.fact("is a leaf", p.is_leaf(&plain)?).known(false);
    Ok(())
}

/// Writes through `.data` and NumPy are not counted: backward goes through with a wrong gradient.
fn uncounted_writes(p: &Probe) -> Result<(), Stop> {
    let ways = [("y.data.add_(1)", 12.0), ("y.detach().numpy()[:] = 100", 400.0), ("pass", 8.0)];
    for (write, gradient) in ways {
        let source = format!(
            r#"
w = torch.ones(3, requires_grad=True)
y = w * 2
square = y * y
{write}
square.sum().backward()
answer = w.grad.tolist()
"#
        );
        p.fact(format!("gradient after {write}"), p.python(&source, &[])?).known([gradient; 3]);
    }
    Ok(())
}
