//! TLS as libpq does it: how much a connection is encrypted, and whose certificate is believed.
//!
//! | sslmode | encrypted | who is on the other side |
//! |---|---|---|
//! | `disable` | never | anybody |
//! | `allow` | when the server wants it | anybody |
//! | `prefer`, the default | when the server can | anybody |
//! | `require` | always | anybody, or as `verify-ca` when there is a root certificate |
//! | `verify-ca` | always | signed by the root certificate |
//! | `verify-full` | always | the same, and its name is the host's |
//!
//! The root certificate is `sslrootcert`, else `~/.postgresql/root.crt`. `sslrootcert=system` stands for what this
//! machine trusts and makes `verify-full` the default. In one thing this is kinder than libpq: `verify-full`
//! without a root certificate trusts what the machine trusts, where libpq refuses.

use super::conninfo::{Words, problem};
use super::surroundings::Surroundings;
use crate::store::StoreError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;
use x509_cert::der::Decode;

/// How much a connection is encrypted and checked; in order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Mode {
    fn parse(text: &str) -> Result<Self, StoreError> {
        Ok(match text {
            "disable" => Self::Disable,
            "allow" => Self::Allow,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => {
                return Err(problem(
                    "unknown sslmode: it is disable, allow, prefer, require, verify-ca or verify-full",
                ));
            }
        })
    }
}

/// The client's side of TLS.
#[derive(Clone)]
pub(super) struct Tls {
    pub(super) mode: Mode,
    pub(super) connector: MakeRustlsConnect,
}

impl Tls {
    /// What `words` ask for; reads the files that they name.
    pub(super) fn new(words: &Words, around: &Surroundings<'_>) -> Result<Self, StoreError> {
        let root = words.get("sslrootcert").filter(|it| !it.is_empty());
        let of_machine = root == Some("system");
        let mode = match words.get("sslmode").filter(|it| !it.is_empty()) {
            Some(mode) => Mode::parse(mode)?,
            None if of_machine => Mode::VerifyFull,
            None => Mode::Prefer,
        };
        if of_machine && mode != Mode::VerifyFull {
            return Err(problem(
                "sslrootcert=system needs sslmode=verify-full: anybody can have such a certificate",
            ));
        }
        let usual = || around.at_home(".postgresql/root.crt").filter(|it| it.is_file());
        let root = root
            .map(PathBuf::from)
            .filter(|_| !of_machine)
            .or_else(|| if of_machine { None } else { usual() });
        let trust = match (mode, root) {
            (Mode::Disable | Mode::Allow | Mode::Prefer, _) | (Mode::Require, None) => Trust::Anybody,
            (Mode::Require | Mode::VerifyCa, Some(root)) => Trust::signed_by(&root, false)?,
            (Mode::VerifyFull, Some(root)) => Trust::signed_by(&root, true)?,
            (Mode::VerifyFull, None) => Trust::of_machine()?,
            (Mode::VerifyCa, None) => {
                return Err(problem(
                    "sslmode=verify-ca needs the certificate of the authority: sslrootcert=root.crt",
                ));
            }
        };
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(Verifier { trust, provider: Arc::clone(&provider) });
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| problem(format!("no TLS on this machine: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match own_certificate(words, around, mode)? {
            Some((chain, key)) => builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| problem(format!("sslcert and sslkey do not go together: {error}")))?,
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self { mode, connector: MakeRustlsConnect::new(config) })
    }
}

/// The client's certificate and key: those named, else those in `~/.postgresql`, else none.
fn own_certificate(
    words: &Words,
    around: &Surroundings<'_>,
    mode: Mode,
) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>, StoreError> {
    let named = |name: &str| words.get(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let usual = |name: &str| around.at_home(".postgresql").map(|it| it.join(name));
    let certificate = named("sslcert");
    if mode == Mode::Disable
        || certificate.is_none() && !usual("postgresql.crt").is_some_and(|it| it.is_file())
    {
        return Ok(None);
    }
    let (Some(certificate), Some(key)) = (
        certificate.or_else(|| usual("postgresql.crt")),
        named("sslkey").or_else(|| usual("postgresql.key")),
    ) else {
        return Err(problem("sslcert needs its sslkey"));
    };
    let meta = key.metadata().map_err(|error| unreadable("sslkey", &key, &error))?;
    // A key that root keeps for a group may be read by the group, as libpq has it.
    if meta.mode() & if meta.uid() == 0 { 0o037 } else { 0o077 } != 0 {
        return Err(problem(format!("others may read sslkey `{}`: chmod 0600", key.display())));
    }
    let key = PrivateKeyDer::from_pem_file(&key).map_err(|error| match error {
        rustls::pki_types::pem::Error::NoItemsFound => {
            problem(format!("sslkey `{}` has no key in PEM that is not encrypted", key.display()))
        }
        error => unreadable("sslkey", &key, &error),
    })?;
    Ok(Some((certificates("sslcert", &certificate)?, key)))
}

fn unreadable(name: &str, path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    problem(format!("failed to read {name} `{}`: {error}", path.display()))
}

fn certificates(name: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let failed = |error| unreadable(name, path, &error);
    let all = CertificateDer::pem_file_iter(path)
        .map_err(failed)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    if all.is_empty() {
        Err(problem(format!("{name} `{}` has no certificate in PEM", path.display())))
    } else {
        Ok(all)
    }
}

/// Whose certificates are believed.
#[derive(Debug)]
enum Trust {
    Anybody,
    Signed {
        roots: RootCertStore,
        /// The certificates of the file themselves: a server may show one of them as its own.
        known: Vec<CertificateDer<'static>>,
        /// Whether the certificate must name the host.
        by_name: bool,
    },
}

impl Trust {
    fn signed_by(path: &Path, by_name: bool) -> Result<Self, StoreError> {
        let known = certificates("sslrootcert", path)?;
        let mut roots = RootCertStore::empty();
        for certificate in &known {
            roots.add(certificate.clone()).map_err(|error| unreadable("sslrootcert", path, &error))?;
        }
        Ok(Self::Signed { roots, known, by_name })
    }

    fn of_machine() -> Result<Self, StoreError> {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        Ok(Self::Signed { roots, known: Vec::new(), by_name: true })
    }
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Trust::Signed { roots, known, by_name } = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        let certificate = ParsedCertificate::try_from(own)?;
        if known.contains(own) {
            // A certificate that signed itself, as the server's manual makes it: the library takes no authority for
            // a server, but this very certificate was named as the one to believe.
            in_time(own, now)?;
        } else {
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, algorithms)?;
        }
        if *by_name {
            verify_server_name(&certificate, host)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether a certificate is valid at this time.
fn in_time(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), rustls::Error> {
    let parsed = x509_cert::Certificate::from_der(certificate)
        .map_err(|_| rustls::Error::from(CertificateError::BadEncoding))?;
    let validity = parsed.tbs_certificate.validity;
    let not_after = UnixTime::since_unix_epoch(validity.not_after.to_unix_duration());
    let not_before = UnixTime::since_unix_epoch(validity.not_before.to_unix_duration());
    if now > not_after {
        return Err(CertificateError::ExpiredContext { time: now, not_after }.into());
    }
    if now < not_before {
        return Err(CertificateError::NotValidYetContext { time: now, not_before }.into());
    }
    Ok(())
}
