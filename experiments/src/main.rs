//! The worker of this workspace: its systems, dressed for measuring.
fn main() {}
