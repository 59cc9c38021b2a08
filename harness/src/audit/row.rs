//! A claim with what became of it.

use super::document::Document;
use super::finding::Finding;
use super::frame::Frame;
use super::verdict::Verdict;

/// A claim with what became of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The claim, by its place in the document.
    pub claim: usize,
    /// What recomputing it gave.
    pub finding: Finding,
}

/// What became of every claim, in the order of the document.
#[derive(Clone, Debug)]
pub struct Audit {
    /// What was audited.
    pub document: Document,
    /// A row a claim.
    pub rows: Vec<Row>,
}

impl Audit {
    /// Recomputes every claim. Pure: the same document gives the same rows.
    pub fn of(document: Document) -> Self {
        let mut rows: Vec<Option<Row>> = vec![None; document.claims.len()];
        // Those that refer to others come last; they do not refer to one another.
        for referring in [false, true] {
            for (place, claim) in document.claims.iter().enumerate() {
                if claim.claims.is_empty() != referring {
                    let finding = (claim.kind.check)(&mut Frame::new(&document, claim, &rows));
                    rows[place] = Some(Row { claim: place, finding });
                }
            }
        }
        Self { rows: rows.into_iter().flatten().collect(), document }
    }

    /// How many claims have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|it| it.finding.verdict == verdict).count()
    }
}
