//! Draws from the generator of an iteration, the same on every machine.
//!
//! Real numbers come from integer bits, square roots (exact by IEEE 754) and the logarithm of the crate `libm`, which
//! is compiled from the same source everywhere; the logarithm of the platform's C library is not used, because two of
//! them may differ in the last bit, and a learning run would then take another course.

use rand_core::Rng;

use super::IterationRng;

/// Evenly from [0, 1): the 53 bits that a float can hold.
pub fn uniform(rng: &mut IterationRng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Evenly from 0..n: Lemire's multiplication, drawing again in the few cases that would favour some.
///
/// # Panics
/// If `n` is 0.
pub fn below(rng: &mut IterationRng, n: usize) -> usize {
    assert!(n > 0, "there is nothing to draw from");
    let n = n as u64;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(n);
        if product as u64 >= n.wrapping_neg() % n {
            return (product >> 64) as usize;
        }
    }
}

/// True with the given probability.
pub fn chance(rng: &mut IterationRng, probability: f64) -> bool {
    uniform(rng) < probability
}

/// Independent standard normal numbers, by Marsaglia's polar method: two from each point that falls into the disc.
pub fn normals(rng: &mut IterationRng, count: usize) -> Vec<f64> {
    let mut drawn = Vec::with_capacity(count + 1);
    while drawn.len() < count {
        let (x, y) = (2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            let factor = (-2.0 * libm::log(square) / square).sqrt();
            drawn.extend([x * factor, y * factor]);
        }
    }
    drawn.truncate(count);
    drawn
}

/// A direction, every one as likely: a vector of length 1.
pub fn unit_vector(rng: &mut IterationRng, dimension: usize) -> Vec<f64> {
    loop {
        let mut vector = normals(rng, dimension);
        if normalise(&mut vector) {
            return vector;
        }
    }
}

/// Scales a vector to length 1. One that has no direction (all zero, or not finite) is left as it is: false.
pub fn normalise(vector: &mut [f64]) -> bool {
    // Divided by the largest first, so that the squares neither overflow nor vanish.
    let largest = vector.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 || !vector.iter().all(|x| x.is_finite()) {
        return false;
    }
    for x in vector.iter_mut() {
        *x /= largest;
    }
    let length = norm(vector);
    for x in vector.iter_mut() {
        *x /= length;
    }
    true
}

/// The length of a vector.
pub fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The indices of the candidates, the fittest first; of equal ones the first wins. What is not a number comes last.
pub fn ranking(fitness: &[f64]) -> Vec<usize> {
    let key = |index: usize| if fitness[index].is_nan() { f64::NEG_INFINITY } else { fitness[index] };
    let mut order: Vec<usize> = (0..fitness.len()).collect();
    order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    order
}

#[cfg(test)]
pub(super) mod tests {
    use rand_core::SeedableRng;
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::super::Optimiser;
    use super::*;

    pub(in super::super) fn rng(seed: u64) -> IterationRng {
        IterationRng::seed_from_u64(seed)
    }

    /// The law of checkpoints: an optimiser that is saved and read after every iteration, and once between being asked
    /// and being told, does the same as one that is not, bit for bit.
    pub(in super::super) fn continues_from_a_checkpoint<O>(
        optimiser: O,
        iterations: u64,
        fitness: impl Fn(&[f64]) -> f64,
    ) where
        O: Optimiser + Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned,
    {
        fn reread<O: Serialize + DeserializeOwned>(optimiser: &O) -> O {
            serde_json::from_str(&serde_json::to_string(optimiser).unwrap()).unwrap()
        }
        let (mut straight, mut saved) = (optimiser.clone(), optimiser);
        for iteration in 0..iterations {
            let asked = straight.ask(&mut rng(iteration));
            saved = reread(&saved);
            assert_eq!(saved.ask(&mut rng(iteration)), asked);
            saved = reread(&saved);
            let told: Vec<f64> = asked.iter().map(|x| fitness(x)).collect();
            straight.tell(&told);
            saved.tell(&told);
            assert_eq!(saved, straight, "after iteration {iteration}");
            assert_eq!(reread(&saved), straight);
            assert_eq!(saved.favourite(), straight.favourite());
            assert_eq!(saved.spread().to_bits(), straight.spread().to_bits());
        }
    }

    #[test]
    fn normals_have_the_moments_of_the_normal_distribution() {
        let drawn = normals(&mut rng(1), 200_001);
        let moment = |k| drawn.iter().map(|x: &f64| x.powi(k)).sum::<f64>() / drawn.len() as f64;
        // Four standard errors each.
        assert!(moment(1).abs() < 4.0 * (1.0 / 2e5f64).sqrt());
        assert!((moment(2) - 1.0).abs() < 4.0 * (2.0 / 2e5f64).sqrt());
        assert!(moment(3).abs() < 4.0 * (15.0 / 2e5f64).sqrt());
        assert!((moment(4) - 3.0).abs() < 4.0 * (96.0 / 2e5f64).sqrt());
        let beyond = drawn.iter().filter(|x| x.abs() > 1.959_964).count() as f64 / drawn.len() as f64;
        assert!((beyond - 0.05).abs() < 0.002);
    }

    #[test]
    fn draws_are_fixed_for_ever() {
        // These bits must not depend on the machine, nor change between versions: resumed runs rely on them.
        let bits: Vec<u64> = normals(&mut rng(42), 3).iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits, NORMALS_OF_42);
    }

    const NORMALS_OF_42: [u64; 3] =
        [4_607_014_870_392_941_435, 13_826_642_810_105_263_476, 4_608_715_109_237_900_042];

    #[test]
    fn even_draws_are_even() {
        let mut counts = [0; 7];
        let mut rng = rng(3);
        for _ in 0..70_000 {
            counts[below(&mut rng, 7)] += 1;
        }
        assert!(counts.iter().all(|&count: &i32| (count - 10_000).abs() < 400), "{counts:?}");
    }

    #[test]
    fn ranking_puts_the_best_first_and_what_is_no_number_last() {
        assert_eq!(ranking(&[1.0, f64::NAN, 3.0, 1.0, f64::INFINITY]), [4, 2, 0, 3, 1]);
    }

    #[test]
    fn normalising_gives_length_one_or_leaves_alone() {
        let mut vector = [3e200, -4e200];
        assert!(normalise(&mut vector));
        assert!((vector[0] - 0.6).abs() < 1e-15 && (vector[1] + 0.8).abs() < 1e-15);
        let mut zero = [0.0; 3];
        assert!(!normalise(&mut zero));
        assert_eq!(zero, [0.0; 3]);
        assert!(!normalise(&mut [1.0, f64::NAN]));
    }
}
