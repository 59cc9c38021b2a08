//! Arithmetic over named values: `100 * (treatment / control - 1)`.
//!
//! Numbers, names, `+ - * /`, parentheses and the functions `sqrt`, `ln` and `abs`. A name may have a part after
//! a dot. Nothing else: an expression of a published table is read, never run.

use super::range::Range;
use std::fmt;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    text: String,
    names: Vec<String>,
    root: Node,
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError(pub String);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    /// By its place in the names.
    Name(usize),
    Negated(Box<Node>),
    Pair(char, Box<Node>, Box<Node>),
    Call(Function, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Sqrt,
    Ln,
    Abs,
}

const LONGEST: usize = 1_000;
const DEEPEST: usize = 64;

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExprError {}

impl Expr {
    /// Reads an expression.
    ///
    /// # Errors
    /// What was found in place of a number, a name or an operator.
    pub fn parse(text: &str) -> Result<Self, ExprError> {
        if text.len() > LONGEST {
            return Err(ExprError(format!("it has more than {LONGEST} bytes")));
        }
        let mut reader = Reader { rest: text, names: Vec::new(), depth: 0 };
        let root = reader.sum()?;
        reader.end()?;
        Ok(Self { text: text.trim().to_owned(), names: reader.names, root })
    }

    /// The names, each once, in the order in which they come.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The value for these values of the names; NaN or infinite where it is not defined.
    pub fn at(&self, values: &[f64]) -> f64 {
        self.root.at(values)
    }

    /// Bounds of the value while each name stays within its range.
    pub fn within(&self, ranges: &[Range]) -> Range {
        self.root.within(ranges)
    }
}

impl Node {
    fn at(&self, values: &[f64]) -> f64 {
        match self {
            Self::Number(it) => *it,
            Self::Name(it) => values.get(*it).copied().unwrap_or(f64::NAN),
            Self::Negated(it) => -it.at(values),
            Self::Pair(operator, a, b) => {
                let (a, b) = (a.at(values), b.at(values));
                match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => a / b,
                }
            }
            Self::Call(function, it) => {
                let it = it.at(values);
                match function {
                    Function::Sqrt => it.sqrt(),
                    Function::Ln => it.ln(),
                    Function::Abs => it.abs(),
                }
            }
        }
    }

    fn within(&self, ranges: &[Range]) -> Range {
        match self {
            Self::Number(it) => Range::point(*it),
            Self::Name(it) => ranges.get(*it).copied().unwrap_or(Range::ANY),
            Self::Negated(it) => it.within(ranges).negate(),
            Self::Pair(operator, a, b) => {
                let (a, b) = (a.within(ranges), b.within(ranges));
                match operator {
                    '+' => a.plus(b),
                    '-' => a.minus(b),
                    '*' => a.times(b),
                    _ => a.over(b),
                }
            }
            Self::Call(function, it) => {
                let it = it.within(ranges);
                match function {
                    Function::Sqrt => it.sqrt(),
                    Function::Ln => it.ln(),
                    Function::Abs => it.abs(),
                }
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    names: Vec<String>,
    depth: usize,
}

impl Reader<'_> {
    /// The next character that is not a blank.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.peek().filter(|it| wanted.contains(it))?;
        self.rest = &self.rest[found.len_utf8()..];
        Some(found)
    }

    fn end(&mut self) -> Result<(), ExprError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.wrong("an operator or the end"),
        }
    }

    fn wrong<T>(&mut self, expected: &str) -> Result<T, ExprError> {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(it) => format!("`{}`", it.escape_default()),
        };
        Err(ExprError(format!("found {found}, expected {expected}")))
    }

    fn sum(&mut self) -> Result<Node, ExprError> {
        let mut sum = self.product()?;
        let mut terms = 0;
        while let Some(operator) = self.take(&['+', '-']) {
            terms += 1;
            if terms > DEEPEST {
                return Err(ExprError(format!("it has more than {DEEPEST} terms")));
            }
            sum = Node::Pair(operator, Box::new(sum), Box::new(self.product()?));
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<Node, ExprError> {
        let mut product = self.factor()?;
        let mut factors = 0;
        while let Some(operator) = self.take(&['*', '/']) {
            factors += 1;
            if factors > DEEPEST {
                return Err(ExprError(format!("it has more than {DEEPEST} factors")));
            }
            product = Node::Pair(operator, Box::new(product), Box::new(self.factor()?));
        }
        Ok(product)
    }

    fn factor(&mut self) -> Result<Node, ExprError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(ExprError(format!("it is nested more than {DEEPEST} deep")));
        }
        let factor = self.inner();
        self.depth -= 1;
        factor
    }

    fn inner(&mut self) -> Result<Node, ExprError> {
        if self.take(&['-']).is_some() {
            return Ok(Node::Negated(Box::new(self.factor()?)));
        }
        if self.take(&['(']).is_some() {
            return self.closed();
        }
        match self.peek() {
            Some(it) if it.is_ascii_digit() => self.number(),
            Some(it) if it.is_ascii_alphabetic() => self.name(),
            _ => self.wrong("a number, a name or `(`"),
        }
    }

    fn closed(&mut self) -> Result<Node, ExprError> {
        let inner = self.sum()?;
        if self.take(&[')']).is_none() {
            return self.wrong("`)`");
        }
        Ok(inner)
    }

    fn number(&mut self) -> Result<Node, ExprError> {
        let word = self.word(|it| it.is_ascii_digit() || it == '.');
        match word.parse::<f64>() {
            Ok(it) if it.is_finite() => Ok(Node::Number(it)),
            _ => Err(ExprError(format!("`{word}` is no number"))),
        }
    }

    fn name(&mut self) -> Result<Node, ExprError> {
        let word = self.word(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '.'));
        if self.take(&['(']).is_some() {
            let function = match word.as_str() {
                "sqrt" => Function::Sqrt,
                "ln" => Function::Ln,
                "abs" => Function::Abs,
                _ => {
                    return Err(ExprError(format!("`{word}` is no function, known are `sqrt`, `ln`, `abs`")));
                }
            };
            return Ok(Node::Call(function, Box::new(self.closed()?)));
        }
        let place = self.names.iter().position(|it| *it == word).unwrap_or_else(|| {
            self.names.push(word);
            self.names.len() - 1
        });
        Ok(Node::Name(place))
    }

    fn word(&mut self, part: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|it| !part(it)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_arithmetic_as_it_is_written() {
        let cases = [
            ("1 - 2 - 3", -4.0),
            ("8 / 4 / 2", 1.0),
            ("2 + 3 * -(4 - 6)", 8.0),
            ("abs(-2.5) * sqrt(16)", 10.0),
            ("ln(1)", 0.0),
            ("100 * (x / y.sd - 1)", 50.0),
        ];
        for (text, value) in cases {
            assert_eq!(Expr::parse(text).unwrap().at(&[3.0, 2.0]), value, "{text}");
        }
        assert_eq!(Expr::parse("b + a * b").unwrap().names(), ["b", "a"]);
    }

    #[test]
    fn hostile_texts_are_refused_without_a_crash() {
        let deep = "(".repeat(900);
        let negated = "-".repeat(900);
        let long = vec!["1"; 400].join("+");
        for text in
            ["", "1 +", "1 2", "(1", "x(1)", "1..2", "é", "\u{0}", "a; b", "2 ^ 3", &deep, &negated, &long]
        {
            assert!(Expr::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn bounds_enclose_every_value(
            text in prop::sample::select(vec![
                "100 * (a / b - 1)", "b + c - a", "(b + c - a - d) / (b + c - 2 * a)", "sqrt(a * a + b * b) / c",
                "ln(a / b) / ln(c)", "abs(a - b) - c * (a + d)", "a / (b - c)", "sqrt(a - b)",
            ]),
            center in prop::array::uniform4(-50.0..50.0f64),
            half in prop::array::uniform4(0.0..5.0f64),
            place in prop::array::uniform4(-1.0..1.0f64),
        ) {
            let expr = Expr::parse(text).unwrap();
            let names = ["a", "b", "c", "d"];
            let pick = |from: &dyn Fn(usize) -> f64| -> Vec<f64> {
                expr.names().iter().map(|it| from(names.iter().position(|n| n == it).unwrap())).collect()
            };
            let ranges: Vec<_> = pick(&|i| center[i]).into_iter().zip(pick(&|i| half[i]))
                .map(|(value, half)| Range::around(value, half)).collect();
            let value = expr.at(&pick(&|i| center[i] + place[i] * half[i]));
            let bounds = expr.within(&ranges);
            prop_assert!(value.is_nan() || bounds.contains(value), "{value} not in {bounds:?}");
        }

        #[test]
        fn no_text_crashes(text in ".{0,60}") {
            let _ = Expr::parse(&text).map(|it| it.at(&[]));
        }
    }
}
