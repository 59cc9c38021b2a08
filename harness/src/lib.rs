//! Pre-registered performance experiments.
