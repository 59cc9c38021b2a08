use super::args::Format;
use crate::render::markdown;
use serde_json::{Map, Value};
use tabled::builder::Builder;
use tabled::settings::Style;

/// A table in the form that was asked for.
pub(super) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// A table of these columns.
    pub(super) fn new<T: Into<String>>(columns: impl IntoIterator<Item = T>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Appends a row, a value a column.
    pub(super) fn row(&mut self, values: impl Into<Vec<Value>>) {
        self.rows.push(values.into());
    }

    /// The table as text without a line break at its end.
    pub(super) fn show(&self, format: Format) -> String {
        match format {
            Format::Text => {
                let mut builder = Builder::default();
                builder.push_record(self.columns.iter().map(|it| printable(it)));
                for row in &self.rows {
                    builder.push_record(row.iter().map(|it| printable(&text(it))));
                }
                builder.build().with(Style::sharp()).to_string()
            }
            Format::Markdown => {
                let columns = self.columns.iter().map(|it| (it.as_str(), markdown::Align::Left));
                let mut table = markdown::Table::new(columns);
                for row in &self.rows {
                    table.row(row.iter().map(|it| text(it).into()));
                }
                table.to_string().trim_end().to_owned()
            }
            Format::Csv => {
                let mut lines = vec![self.columns.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(",")];
                let row =
                    |row: &Vec<Value>| row.iter().map(|it| quoted(&text(it))).collect::<Vec<_>>().join(",");
                lines.extend(self.rows.iter().map(row));
                lines.join("\n")
            }
            Format::Json => format!("{:#}", self.to_json()),
        }
    }

    /// A list of objects, one a row.
    pub(super) fn to_json(&self) -> Value {
        let object = |row: &Vec<Value>| {
            let entries = self.columns.iter().zip(row).map(|(name, it)| (name.replace(' ', "_"), it.clone()));
            Value::Object(entries.collect::<Map<_, _>>())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(it) => it.clone(),
        other => other.to_string(),
    }
}

/// Without control characters, which would act on the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

/// A CSV field after RFC 4180.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
