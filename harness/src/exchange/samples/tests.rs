//! Files that other tools read wrongly, from `tests/cases`.

use super::*;

fn case(name: &str, decimal: Decimal) -> Result<Vec<Series>, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    read(&path, decimal, None).map_err(|it| it.to_string())
}

#[track_caller]
fn refused(name: &str, words: &[&str]) {
    let error = case(name, Decimal::Point).unwrap_err();
    let file = name.rsplit('/').next().unwrap();
    for word in [file].iter().chain(words) {
        assert!(error.contains(word), "{word:?} is not said of {name}: {error}");
    }
}

fn of(text: &str) -> Result<Vec<Series>, String> {
    parse(text.as_bytes(), Decimal::Point, None).map_err(|it| format!("{}: {}", it.place, it.text))
}

#[track_caller]
fn values(series: &[Series], arm: &str) -> Vec<f64> {
    series.iter().find(|it| it.arm == arm).unwrap().values.clone()
}

#[test]
fn a_comma_is_a_decimal_sign_only_where_it_is_said_to_be() {
    let found = case("14_csv_locale/samples_semicolon_bom_crlf.csv", Decimal::Comma).unwrap();
    assert_eq!(values(&found, "base"), [12.5, 12.75, 12.625]);
    assert_eq!(values(&found, "neu"), [11.5, 11.75, 11.625]);
    assert_eq!((found[0].metric.as_str(), found[0].unit), ("wert_ms", Unit::parse("ms").ok()));
    refused("14_csv_locale/samples_semicolon_bom_crlf.csv", &["line 2", "`12,5`", "--decimal comma"]);
    refused("14_csv_locale/ambiguous.csv", &["line 2", "`1,234` is not a number in the default form"]);
    let commas = case("14_csv_locale/ambiguous.csv", Decimal::Comma).unwrap();
    assert_eq!((values(&commas, "base"), values(&commas, "neu")), (vec![1.234, 1.25], vec![1.1]));
    refused("14_csv_locale/thousands_dot_decimal_comma.csv", &["line 2", "1.234,5"]);
    assert!(case("14_csv_locale/thousands_dot_decimal_comma.csv", Decimal::Comma).is_err());
    let eastern = case("14_csv_locale/eastern_arabic_digits.csv", Decimal::Comma).unwrap_err();
    assert!(eastern.contains("line 3"), "{eastern}");
}

#[test]
fn signs_exponents_blanks_and_comments_are_read_and_words_are_not() {
    refused("14_csv_locale/plain_quirks.csv", &["line 9", "`NA`"]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/14_csv_locale/plain_quirks.csv");
    let text = std::fs::read_to_string(path).unwrap().replace("new,NA\n", "");
    let found = of(&text).unwrap();
    assert_eq!((values(&found, "base"), values(&found, "new")), (vec![0.00125, 5.0, 7.0], vec![4.5, 4.25]));
}

#[test]
fn units_are_converted_within_a_kind_and_never_guessed() {
    let mut same = case("15_units/same_duration.csv", Decimal::Point).unwrap();
    let found = same.remove(0).in_unit(Unit::parse("ns").unwrap());
    assert_eq!(found.values.len(), 8);
    assert!(found.values.iter().all(|it| (it / 1100.0 - 1.0).abs() < 1e-12), "{found:?}");
    refused("15_units/unknown.csv", &["line 3", "`fortnight`"]);
    assert_eq!(of("arm,value,unit\na,5,ms\na,5,\n").unwrap_err(), "line 3: no unit");
    assert_eq!(of("arm,value,unit\na,5,ms\na,5,B\n").unwrap_err(), "line 3: `B` among samples in `ms`");
}

#[test]
fn what_is_no_number_is_refused_with_its_place() {
    for (file, word) in [
        ("nan_bare", "`NaN`"),
        ("minus_nan", "`-nan`"),
        ("infinity", "`Infinity`"),
        ("too_big", "`1e400`"),
        ("null", "`null`"),
        ("string_nan", "`\"NaN\"`"),
    ] {
        refused(&format!("19_bad_values/{file}.json"), &["sample 2", word]);
    }
    refused("19_bad_values/negative.csv", &["line 3", "a duration below zero"]);
    refused("19_bad_values/nul_in_name.json", &["U+0000"]);
    refused("19_bad_values/empty_samples.json", &["no samples"]);
    let zeros = case("19_bad_values/negative_zero.csv", Decimal::Point).unwrap();
    assert!(zeros[0].values[0].is_sign_positive(), "{zeros:?}");
}

#[test]
fn plain_numbers_and_lists_have_no_names() {
    for text in ["1.5\n# a rest\n\n2 # and a second\n-3e1", "[1.5, 2, -30]", "\u{feff}1.5\r\n2\r\n-30\r\n"] {
        let found = of(text).unwrap();
        assert_eq!((found.len(), found[0].arm.as_str(), found[0].unit), (1, "", None), "{text:?}");
        assert_eq!(found[0].values, [1.5, 2.0, -30.0], "{text:?}");
    }
    for (text, error) in [
        ("", ": the file is empty"),
        ("# nothing\n", ": the file is empty"),
        ("[]", ": there are no samples"),
        ("NaN\n1\n", "line 1: `NaN` is not a finite number"),
        ("1\ninf\n", "line 2: `inf` is not a finite number"),
        ("1\n1e999\n", "line 2: `1e999` is larger than every number that can be kept"),
        ("1\n\0\n", "line 2: a character U+0000 stands here"),
        ("{\"samples\": 3}", "`samples`: expected a list of numbers"),
        ("{\"sample\": [3]}", "`sample`: unknown key"),
    ] {
        assert_eq!(of(text).unwrap_err(), error, "{text:?}");
    }
}

#[test]
fn tables_are_whole_or_refused() {
    let found = of("block,arm,cell,open_ms,size\n0,a,n=1,1,10\n0,b,n=1,2,20\n1,a,n=1,3,30\n").unwrap();
    assert_eq!(found.len(), 4);
    assert_eq!(
        (found[0].metric.as_str(), &found[0].values, &found[0].blocks),
        ("open_ms", &vec![1.0, 3.0], &vec![0, 1])
    );
    assert_eq!((found[1].metric.as_str(), found[1].unit), ("size", None));
    for (text, error) in [
        ("arm,ms\n", "line 1: there are no samples below the header"),
        ("arm,ms\na\n", "line 2: 1 fields, where the header has 2"),
        ("arm,ms\na,\n", "line 2: `ms`: an empty value, where a number is expected"),
        ("arm,ms\n,1\n", "line 2: an arm and a metric have a name"),
        ("arm,ms,ms\na,1,1\n", "line 1: two columns are named `ms`"),
        ("arm,unit\na,ms\n", "line 1: no column has the samples: `value`, or one named after its metric"),
        ("arm,ms\na,\"1\n", "line 2: a quotation mark is not closed"),
        ("arm,block,ms\na,0,1\na,0,1\n", "line 3: `ms`: the block is there already"),
        ("arm,block,ms\na,x,1\n", "line 2: `x` is not the number of a block"),
    ] {
        assert_eq!(of(text).unwrap_err(), error, "{text:?}");
    }
}
