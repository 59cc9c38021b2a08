//! Formats that experiments and runs travel in, one a file.

pub mod calibrations;
pub mod chain;
pub mod evidence;
pub mod samples;
