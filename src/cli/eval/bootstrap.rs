//! Confidence intervals of paired differences: the bootstrap over questions (Efron 1979), percentile method, seeded, so that
//! the same two runs always give the same interval.

/// Questions drawn anew so many times, as the reference scorer does; the ends then shake by some two hundredths of the
/// interval's width.
pub(super) const RESAMPLES: usize = 2_000;
/// Where the draws begin.
pub(super) const SEED: u64 = 1;

/// The 95 % intervals of the means of several figures, each a column of `rows`, a row a question; all figures see the same
/// draws. None without rows.
pub(super) fn intervals<const N: usize>(rows: &[[f64; N]]) -> Option<[(f64, f64); N]> {
    if rows.is_empty() {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut means: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(RESAMPLES));
    for _ in 0..RESAMPLES {
        let mut sums = [0.0; N];
        for _ in 0..rows.len() {
            let row = rows[random.usize(..rows.len())];
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
        for (means, sum) in means.iter_mut().zip(sums) {
            means.push(sum / rows.len() as f64);
        }
    }
    Some(means.map(|mut means| {
        means.sort_unstable_by(f64::total_cmp);
        (quantile(&means, 0.025), quantile(&means, 0.975))
    }))
}

/// Between the two nearest of the sorted values, in proportion.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * sorted.len().saturating_sub(1) as f64;
    let value = |index: usize| sorted.get(index).copied().unwrap_or_default();
    let (below, above) = (value(at.floor() as usize), value(at.ceil() as usize));
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[0.0, 10.0, 20.0], 0.25), 5.0);
        assert_eq!(quantile(&[3.0], 0.975), 3.0);
    }

    // Whoever reads an interval takes it for mean +- 1.96 standard errors, which it must come to where there are many
    // questions: here 400 of -1, 0 and 1 in the proportion 1:2:1, so a standard deviation of 0.7071 and an error of 0.0354.
    #[test]
    fn an_interval_is_as_wide_as_the_theory_says_and_always_the_same() {
        let rows: Vec<[f64; 2]> = (0..400).map(|at| [[-1.0, 0.0, 0.0, 1.0][at % 4], 0.25]).collect();
        let [(low, high), constant] = intervals(&rows).unwrap();
        let expected = 1.96 * 0.5_f64.sqrt() / 20.0;
        assert!((low + expected).abs() < 0.1 * expected && (high - expected).abs() < 0.1 * expected, "{low} to {high}");
        assert_eq!(constant, (0.25, 0.25));
        assert_eq!(intervals(&rows), Some([(low, high), constant]));
        assert_eq!(intervals::<1>(&[]), None);
    }
}
