//! The `harness` program.

fn main() -> std::process::ExitCode {
    harness::cli::main()
}
