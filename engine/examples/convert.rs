//! Converts a dictionary from one format to another:
//! `cargo run --release -p engine --features json --example convert -- words.txt json words.json`.
//!
//! The input may be any of the formats, which its first bytes tell, or lines of text, which are sorted first. The last
//! argument may be `-` for standard output.

#![expect(clippy::print_stderr, reason = "a program says what is wrong")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use engine::codec::{self, Dictionary, Format, Source};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, format, to] = &arguments[..] else {
        eprintln!("usage: convert <file> <{}> <file or ->", Format::ALL.map(Format::name).join("|"));
        return ExitCode::from(2);
    };
    match convert(from, format, to) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("convert: {error}");
            let mut cause = error.source();
            while let Some(it) = cause {
                eprintln!("  because: {it}");
                cause = it.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn convert(from: &str, format: &str, to: &str) -> Result<(), Box<dyn Error>> {
    let format: Format = format.parse()?;
    let bytes = std::fs::read(from).map_err(|error| format!("failed to read `{from}`: {error}"))?;
    // Before the output is touched: what cannot be decoded must not cost the file that is there.
    match Format::detect(&bytes) {
        Some(found) => {
            let dictionary: Dictionary = codec::decode(&bytes, found)?;
            write(&dictionary, format, to)
        }
        None => {
            let text = String::from_utf8(bytes)
                .map_err(|error| format!("`{from}` is in no known format, and is no text: {error}"))?;
            let terms: Vec<&str> = text.lines().collect::<BTreeSet<_>>().into_iter().collect();
            write(&terms[..], format, to)
        }
    }
}

fn write<S: Source + ?Sized>(source: &S, format: Format, to: &str) -> Result<(), Box<dyn Error>> {
    let mut writer: Box<dyn Write> = if to == "-" {
        Box::new(io::stdout().lock())
    } else {
        let file = File::create(to).map_err(|error| format!("failed to create `{to}`: {error}"))?;
        Box::new(BufWriter::new(file))
    };
    Ok(codec::encode_to(source, format, &mut writer)?)
}
