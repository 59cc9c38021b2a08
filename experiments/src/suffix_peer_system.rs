//! The suffix index beside the structures of others: the time of a search in real text.
//!
//! | parameter | meaning |
//! |---|---|
//! | `structure` | one of `native-fast`, `native-compact`, `suffix`, `libsais`, `general-sam`, `memmem` |
//! | `bytes` | most bytes of the text: the sources and documents of this project |
//! | `questions`, `passes` | number of questions, and passes over them that a value is the mean of |
//!
//! | metric | meaning |
//! |---|---|
//! | `contains` | one question: whether a part of 12 chars occurs |
//! | `locate` | one question: all places where it occurs, into a reused buffer |

use crate::suffix_peers::{Finder, build, questions, sources};
use harness::worker::{Error, Prepared, Result, Sample, Setup, System};

/// The system `suffix-peers`.
pub(crate) struct SuffixPeers;

impl System for SuffixPeers {
    fn name(&self) -> &'static str {
        "suffix-peers"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        let structure: String = setup.params.get("structure")?;
        let (bytes, count): (usize, u64) = (setup.params.get("bytes")?, setup.params.get("questions")?);
        let passes: u32 = setup.params.get_or("passes", 1)?;
        if passes == 0 || count == 0 || bytes == 0 {
            return Err(Error::new("`passes`, `questions` or `bytes` is 0, expected at least 1"));
        }
        // Structures borrow the text, which a worker needs until it ends.
        let text: &'static str = Box::leak(sources(bytes)?.into_boxed_str());
        let questions = questions(text, count);
        Ok(Box::new(Searching { finder: build(&structure, text, &setup.scratch)?, questions, passes }))
    }
}

struct Searching {
    finder: Box<dyn Finder>,
    questions: Vec<String>,
    passes: u32,
}

impl Prepared for Searching {
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        let Self { finder, questions, passes } = self;
        let calls = *passes * questions.len() as u32;
        let mut next = questions.iter().cycle();
        let mut found = 0_u64;
        sample.mean_time("contains", calls, || {
            found += u64::from(next.next().is_some_and(|it| finder.contains(it)));
            Ok::<_, Error>(())
        })?;
        sample.answer(&found);
        if sample.wants("locate") {
            let (mut next, mut out, mut sum) = (questions.iter().cycle(), Vec::new(), 0_u64);
            sample.mean_time("locate", calls, || {
                if next.next().is_some_and(|it| !finder.positions(it, &mut out)) {
                    return Err(Error::new("this structure tells no positions: leave `locate` out"));
                }
                sum = out.iter().fold(sum, |sum, &at| sum.wrapping_add(u64::from(at) + 1));
                Ok(())
            })?;
            sample.answer(&sum);
        }
        Ok(())
    }
}
