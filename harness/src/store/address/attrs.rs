//! `target_session_attrs`: which of several servers suits.

use super::conninfo::problem;
use super::endpoint::{Endpoint, Unreached};
use crate::store::StoreError;
use postgres::Client;

/// What a server must be, as libpq has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attrs {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

impl Attrs {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, StoreError> {
        Ok(match text.unwrap_or_default() {
            "" | "any" => Self::Any,
            "read-write" => Self::ReadWrite,
            "read-only" => Self::ReadOnly,
            "primary" => Self::Primary,
            "standby" => Self::Standby,
            "prefer-standby" => Self::PreferStandby,
            _ => {
                return Err(problem(
                    "unknown target_session_attrs: it is any, read-write, read-only, primary, standby or \
                     prefer-standby",
                ));
            }
        })
    }

    /// The wishes with which all places are tried, one after the other.
    pub(super) fn in_turn(self) -> Vec<Self> {
        if self == Self::PreferStandby { vec![Self::Standby, Self::Any] } else { vec![self] }
    }

    /// Keeps a connection whose server suits.
    pub(super) fn accept(
        self,
        mut client: Client,
        endpoint: &Endpoint,
        location: &str,
    ) -> Result<Client, StoreError> {
        if self == Self::Any {
            return Ok(client);
        }
        let asked = client
            .query_one("select pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'", &[])
            .and_then(|row| Ok((row.try_get::<_, bool>(0)?, row.try_get::<_, bool>(1)?)));
        let (standby, read_only) =
            asked.map_err(|error| endpoint.explain(Unreached::Refused(error), location))?;
        let (suits, found) = match self {
            Self::ReadWrite => (!read_only, "the session is read-only"),
            Self::ReadOnly => (read_only, "the session is not read-only"),
            Self::Primary => (!standby, "the server is a standby"),
            _ => (standby, "the server is no standby"),
        };
        if suits {
            return Ok(client);
        }
        Err(StoreError::Server {
            attempt: "connect".to_owned(),
            location: location.to_owned(),
            code: None,
            words: found.to_owned(),
            remedy: Some(
                "target_session_attrs asks for another kind of server; name its host too".to_owned(),
            ),
        })
    }
}
