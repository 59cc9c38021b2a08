//! A persistent trie.
