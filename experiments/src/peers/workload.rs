//! The keys of the comparison.

use crate::questions::Random;
use crate::terms::terms;
use harness::worker::{Error, Result};
use std::path::{Path, PathBuf};

/// Where Debian's `wamerican-insane` puts its words: 663,473 of them in version 2020.12.07.
const WORDS: &str = "/usr/share/dict/american-english-insane";

/// A set of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    /// The terms of the loading ledger.
    Ledger,
    /// A list of English words.
    Words,
    /// Made-up addresses of 67 bytes on average, of whose path segments one in eight is not ASCII.
    Urls,
    /// 32 hex digits of a hash.
    Hex,
}

impl Workload {
    pub(crate) const ALL: [Self; 4] = [Self::Ledger, Self::Words, Self::Urls, Self::Hex];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Words => "words",
            Self::Urls => "urls",
            Self::Hex => "hex",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
            Error::new(format!("keys `{name}` are unknown, known are ledger, words, urls, hex"))
        })
    }

    /// Where the files with these keys are kept from run to run, relative to the project's root.
    pub(crate) fn folder(self, count: u64) -> PathBuf {
        Path::new("target/bench-scratch/peers").join(format!("{}-{count}", self.name()))
    }

    /// Whether what the keys are made from is there.
    pub(crate) fn check(self, words: Option<&str>) -> Result<()> {
        if self != Self::Words {
            return Ok(());
        }
        let path = words.unwrap_or(WORDS);
        std::fs::File::open(path).map(drop).map_err(missing(path))
    }

    /// About `count` keys, sorted, each once; of words at most as many as there are. `words` is the list's path, if
    /// it is not where Debian has it.
    pub(crate) fn keys(self, count: u64, words: Option<&str>) -> Result<Vec<String>> {
        let mut keys: Vec<String> = match self {
            Self::Ledger => return Ok(terms(count)),
            Self::Words => {
                let path = words.unwrap_or(WORDS);
                let text = std::fs::read_to_string(path).map_err(missing(path))?;
                text.lines().take(count as usize).map(str::to_owned).collect()
            }
            Self::Urls => (0..count).map(url).collect(),
            Self::Hex => (0..count).map(hex).collect(),
        };
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }
}

/// The error for words that cannot be read.
fn missing(path: &str) -> impl FnOnce(std::io::Error) -> Error {
    Error::context(format!(
        "failed to read the words at `{path}`; install Debian's `wamerican-insane` or set `words`"
    ))
}

fn hex(i: u64) -> String {
    let mut random = Random(i.wrapping_mul(0xD6E8_FEB8_6659_FD93));
    format!("{:016x}{:016x}", random.next(), random.next())
}

fn url(i: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["an", "be", "cor", "da", "el", "fin", "go", "hi", "in", "ka", "lo", "mer", "no", "per", "ta", "ven"];
    const OTHERS: [&str; 8] = ["日本", "東京", "café", "straße", "жизнь", "λόγος", "niño", "大阪"];
    const ENDS: [&str; 4] = ["com", "org", "net", "co.uk"];
    let word = |number: u64, syllables: u64| -> String {
        let mut random = Random(number);
        (0..syllables).map(|_| SYLLABLES[random.below(SYLLABLES.len())]).collect()
    };
    let mut random = Random(i.wrapping_mul(0xA24B_AED4_963E_E407));
    // Few hosts have many pages: the square of a uniform number prefers the low ones.
    let host = { (random.below(100) * random.below(100)) as u64 };
    let mut url = format!("https://www.{}.{}", word(host, 3 + host % 3), ENDS[host as usize % ENDS.len()]);
    for depth in 0..4 + random.below(2) {
        url.push('/');
        let number = random.below([30, 200, 2_000, 20_000, 100_000][depth]) as u64;
        if random.below(8) == 0 {
            url.push_str(OTHERS[number as usize % OTHERS.len()]);
        } else {
            url.push_str(&word(number.wrapping_add(host << 20), 2 + number % 3));
        }
    }
    url.push_str(&format!("-{}.html", i % 100_003));
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_as_long_as_they_should_be() {
        for (workload, least, most) in
            [(Workload::Ledger, 20, 30), (Workload::Urls, 60, 75), (Workload::Hex, 32, 32)]
        {
            let keys = workload.keys(10_000, None).expect("these are made up");
            assert!(keys.is_sorted_by(|a, b| a < b) && keys.len() > 9_900, "{workload:?}");
            let mean = keys.iter().map(String::len).sum::<usize>() / keys.len();
            assert!((least..=most).contains(&mean), "{workload:?} {mean}");
            assert_eq!(Workload::named(workload.name()).ok(), Some(workload));
        }
    }
}
