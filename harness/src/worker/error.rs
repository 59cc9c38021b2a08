use std::fmt;

/// Why a worker cannot go on; its text reaches the user through the driver.
#[derive(Debug)]
pub struct Error {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result of a worker's step.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// For `map_err`: what was attempted, with the cause kept behind it.
    pub fn context<E>(attempt: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let message = attempt.into();
        move |source| Self { message, source: Some(source.into()) }
    }
}

impl fmt::Display for Error {
    /// The whole chain, each cause after a colon.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut cause = self.source.as_deref().map(|it| it as &dyn std::error::Error);
        while let Some(it) = cause {
            write!(f, ": {it}")?;
            cause = it.source();
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
