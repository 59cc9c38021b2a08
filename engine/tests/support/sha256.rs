//! SHA-256 as FIPS 180-4 has it, for the digests in case files.

const PRIMES: usize = 64;

/// The digest in hex.
pub(crate) fn sha256_hex(message: &[u8]) -> String {
    let (mut state, constants) = constants();
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if message.len() % 64 >= 56 {
        padded.resize(padded.len() + 64, 0);
    }
    let len = padded.len();
    padded[len - 8..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        compress(&mut state, block, &constants);
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

/// The fractional parts of the square roots of 8 and the cube roots of 64 primes, by integer arithmetic.
fn constants() -> ([u32; 8], [u32; PRIMES]) {
    let primes: Vec<u128> = (2..).filter(|&n| (2..n).all(|d| n % d != 0)).take(PRIMES).collect();
    let root = |square: &dyn Fn(u128) -> u128, target: u128| {
        let (mut low, mut high) = (0_u128, 1 << 40);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if square(middle) <= target { low = middle } else { high = middle }
        }
        low as u32
    };
    let squares = std::array::from_fn(|i| root(&|x| x * x, primes[i] << 64));
    let cubes = std::array::from_fn(|i| root(&|x| x * x * x, primes[i] << 96));
    (squares, cubes)
}

fn compress(state: &mut [u32; 8], block: &[u8], constants: &[u32; PRIMES]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    }
    for i in 16..64 {
        let (a, b) = (words[i - 15], words[i - 2]);
        let low = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let high = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        words[i] = words[i - 16].wrapping_add(low).wrapping_add(words[i - 7]).wrapping_add(high);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for i in 0..64 {
        let high = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let one = h.wrapping_add(high).wrapping_add(choice).wrapping_add(constants[i]).wrapping_add(words[i]);
        let low = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let two = low.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(add);
    }
}
