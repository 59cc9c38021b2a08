//! How a trie is opened.

/// What opening reads at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadStrategy {
    /// Materialises every node. Takes time in proportion to the image; later accesses cannot fail, and the file is
    /// no longer needed. (Changes of a forged file can: whether the keys of a bucket are in order is asked when it is changed.)
    Eager,
    /// Materialises a node when it is first accessed. Takes nearly no time; an access can find damage.
    #[default]
    Lazy,
    /// Materialises the nodes that have fewer than so many nodes above them, the others when they are accessed.
    /// `Depth(0)` is lazy.
    Depth(usize),
    /// Materialises every node, by so many threads; 0 takes as many as there are processors.
    Parallel(usize),
    /// Materialises nothing: accesses read the nodes where they are in the file. A change materialises the nodes on its
    /// way. Takes the least time and memory of all. With [`Verify::Header`] pages are not verified at all: whatever
    /// they hold, accesses are safe, but on a damaged page answers may be wrong.
    Mapped,
}

/// What opening verifies before it returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verify {
    /// The header, the section table and the table of page checksums. Every page is still verified before a node on
    /// it is materialised, so with [`LoadStrategy::Lazy`] damage is found by the access that needs the page. Only what is
    /// read in place ([`LoadStrategy::Mapped`], [`Image`](super::Image)) is not verified.
    #[default]
    Header,
    /// The checksum of every page as well: about a millisecond for 16 MiB. Damage is found by opening.
    Full,
    /// The structure as well: every key is visited, compared with the one before, and looked up. Forgeries are found
    /// by opening.
    Structural,
}

/// Where the bytes of an image come from while a lazily opened trie needs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backing {
    /// The file is mapped. Whoever truncates or overwrites it in place meanwhile breaks the contract: the process
    /// may be killed by the system or read nonsense. Replacing it by a checkpoint or a rename is fine.
    #[default]
    Map,
    /// The file is read into memory. For network file systems and for files that others may write to.
    Copy,
}

/// Options of [`Trie::open`](super::Trie::open): lazy, header verified, mapped, unless told otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    pub(crate) strategy: LoadStrategy,
    pub(crate) verify: Verify,
    pub(crate) backing: Backing,
}

impl OpenOptions {
    /// Lazy, header verified, mapped.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what opening reads at once.
    #[must_use]
    pub fn strategy(mut self, strategy: LoadStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets what opening verifies.
    #[must_use]
    pub fn verify(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Sets where the bytes come from.
    #[must_use]
    pub fn backing(mut self, backing: Backing) -> Self {
        self.backing = backing;
        self
    }
}

impl From<Verify> for OpenOptions {
    fn from(verify: Verify) -> Self {
        Self::new().verify(verify)
    }
}

impl From<LoadStrategy> for OpenOptions {
    fn from(strategy: LoadStrategy) -> Self {
        Self::new().strategy(strategy)
    }
}
