//! Limits that must hold on every machine: growth, ratios to Terraform, memory.

use crate::shape::Shape;
use crate::suite::{Row, Step};

/// Maximum growth, as a power of the number of resources.
const MAX_EXPONENT: f64 = 1.1;
/// Maximum growth where the state is in a backend.
const MAX_EXPONENT_OVER_BACKENDS: f64 = 1.05;
/// Maximum bytes for one more resource, times the weight of the shape.
const BYTES_PER_RESOURCE: f64 = 8.0 * 1024.0;
/// Minimum ratio to Terraform in the planning and applying of a thousand independent resources.
const RATIOS: [(Step, f64); 2] = [(Step::Plan, 20.0), (Step::Apply, 100.0)];
/// Minimum ratio to Terraform in an apply whose state is in a backend.
const OVER_BACKENDS: [(&str, f64); 2] = [("over http", 50.0), ("over pg", 100.0)];
/// Minimum ratio to Terraform in the planning of the other shapes, in the largest size measured
/// with Terraform.
const ELSEWHERE: f64 = 30.0;

/// A limit, and whether it holds.
pub(crate) struct Verdict {
    pub(crate) claim: String,
    pub(crate) holds: bool,
}

/// Growth of a step of a shape with the number of resources.
pub(crate) struct Growth {
    pub(crate) shape: String,
    pub(crate) step: Step,
    /// The power of N that fits the CPU times of all sizes best.
    pub(crate) fitted: f64,
    /// The power of N between the two largest sizes, where fixed costs hide least.
    pub(crate) last: f64,
    /// Bytes that each further resource costs between the two largest sizes.
    pub(crate) bytes: f64,
}

/// Computes the growth of each step that has at least two sizes.
pub(crate) fn growth(rows: &[Row]) -> Vec<Growth> {
    let mut growths: Vec<Growth> = Vec::new();
    for row in rows.iter().filter(|row| row.size > 0) {
        if growths.iter().any(|growth| growth.shape == row.shape && growth.step == row.step) {
            continue;
        }
        let is_same_series = |other: &&Row| other.shape == row.shape && other.step == row.step;
        let mut sizes: Vec<&Row> = rows.iter().filter(is_same_series).collect();
        sizes.sort_by_key(|row| row.size);
        let [.., before, last] = sizes[..] else { continue };
        let n_added = (last.size - before.size) as f64;
        let points: Vec<(f64, f64)> =
            sizes.iter().map(|row| ((row.size as f64).ln(), row.ours.cpu.ln())).collect();
        growths.push(Growth {
            shape: row.shape.clone(),
            step: row.step,
            fitted: slope(&points),
            last: slope(&points[points.len() - 2..]),
            bytes: (last.ours.peak - before.ours.peak) / n_added,
        });
    }
    growths
}

/// The slope of the line that fits the points best.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    covariance / variance
}

/// Compares the rows with the limits. Limits without a measurement are omitted.
pub(crate) fn check(rows: &[Row]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for growth in growth(rows) {
        let name = format!("{} {}", growth.shape, growth.step.name());
        let steepest = growth.fitted.max(growth.last);
        let is_over_backend = growth.shape.starts_with("over ");
        let limit = if is_over_backend { MAX_EXPONENT_OVER_BACKENDS } else { MAX_EXPONENT };
        verdicts.push(Verdict {
            claim: format!("{name} grows as N^{steepest:.2}, at most N^{limit}"),
            holds: steepest <= limit,
        });
        let shape = Shape::ALL.iter().find(|shape| shape.to_string() == growth.shape);
        let max_bytes = BYTES_PER_RESOURCE * shape.map_or(1, |shape| shape.weight()) as f64;
        let (kb, max_kb) = (growth.bytes / 1024.0, max_bytes / 1024.0);
        verdicts.push(Verdict {
            claim: format!("{name} takes {kb:.1} KB for one more, at most {max_kb:.0}"),
            holds: growth.bytes <= max_bytes,
        });
    }
    let flat = RATIOS.map(|(step, min_ratio)| ("flat", step, min_ratio));
    let backends = OVER_BACKENDS.map(|(shape, min_ratio)| (shape, Step::Apply, min_ratio));
    for (shape, step, min_ratio) in flat.into_iter().chain(backends) {
        let row =
            rows.iter().find(|row| row.shape == shape && row.size == 1_000 && row.step == step);
        if let Some((row, terraform)) = row.and_then(|row| Some((row, row.terraform?))) {
            let ratio = terraform.wall / row.ours.wall;
            verdicts.push(Verdict {
                claim: format!(
                    "{shape} 1000 {} is {ratio:.0} times as fast as Terraform, at least {min_ratio}",
                    step.name()
                ),
                holds: ratio >= min_ratio,
            });
        }
    }
    verdicts.extend(other_limits(rows));
    verdicts
}

/// The ratios of the shapes that are only planned. A Terraform command that was stopped is no
/// evidence of a violation.
fn other_limits(rows: &[Row]) -> Vec<Verdict> {
    let shapes = Shape::ALL.iter().filter(|shape| shape.steps() == [Step::Plan]);
    let verdict = |shape: &Shape| {
        let name = shape.to_string();
        let compared = rows.iter().filter(|row| row.shape == name);
        let (row, terraform) = compared
            .filter_map(|row| Some((row, row.terraform?)))
            .max_by_key(|(row, _)| row.size)?;
        let ratio = terraform.wall / row.ours.wall;
        let bound = if terraform.capped { "more than " } else { "" };
        Some(Verdict {
            claim: format!(
                "{name} {} plan is {bound}{ratio:.0} times as fast as Terraform, at least {ELSEWHERE}",
                row.size
            ),
            holds: ratio >= ELSEWHERE || terraform.capped,
        })
    };
    shapes.filter_map(verdict).collect()
}
