//! The `harness` program.

fn main() -> std::process::ExitCode {
    harness::measure::serve_as_launcher().unwrap_or_else(harness::cli::main)
}
