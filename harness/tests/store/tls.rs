//! TLS to a real server, with good certificates and bad ones. Every mode means what it means to libpq.

use crate::support::*;
use harness::store::cluster::{Cluster, ClusterOptions};
use postgres::{Client, NoTls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The name that the good certificate has. It is never looked up: `hostaddr` says where it is.
const NAME: &str = "db.test";

struct TlsServer {
    address: String,
    admin: Option<Client>,
    cluster: Option<Cluster>,
    url: String,
    folder: tempfile::TempDir,
}

impl TlsServer {
    /// `None` where the server was built without TLS.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        make_certificates(folder.path());
        let access = folder.path().join("access.conf");
        let rules = "local all all trust\n\
                     hostssl all certified all cert\n\
                     hostssl all either all trust\nhostnossl all either all trust\n\
                     hostnossl all plain all trust\n\
                     hostssl all alice all scram-sha-256\n";
        fs::write(&access, rules).unwrap();
        // A loopback address of its own, so that the port may be the one that the socket's name has.
        let id = std::process::id();
        let address = format!("127.{}.{}.{}", 64 + (id >> 16) % 64, (id >> 8) % 256, 1 + id % 254);
        let setting = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let settings = vec![
            setting("listen_addresses", &address),
            setting("hba_file", &access.display().to_string()),
            setting("fsync", "off"),
        ];
        let options = ClusterOptions { settings, ..cluster_options(&folder.path().join("pg")) };
        let cluster = Cluster::acquire(&options, &|_| {}).unwrap();
        let url = cluster.url();
        let mut admin = Client::connect(&url, NoTls).unwrap();
        let built_with_tls = admin.batch_execute("alter system set ssl_ciphers = 'HIGH'").is_ok();
        for role in ["alice", "certified", "either", "plain"] {
            admin.batch_execute(&format!("create role {role} superuser login password 's3cret'")).unwrap();
        }
        migrated(&url).close().unwrap();
        let mut server = Self { address, admin: Some(admin), cluster: Some(cluster), url, folder };
        (built_with_tls && server.show("good")).then_some(server)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes the server show another certificate. Tells whether it can.
    fn show(&mut self, name: &str) -> bool {
        let admin = self.admin.as_mut().unwrap();
        let certificate = self.folder.path().join(format!("{name}.crt")).display().to_string();
        for (key, value) in [
            ("ssl_cert_file", certificate.as_str()),
            ("ssl_key_file", &certificate.replace(".crt", ".key")),
            ("ssl_ca_file", &self.folder.path().join("root.crt").display().to_string()),
            ("ssl", "on"),
        ] {
            if admin.batch_execute(&format!("alter system set {key} = '{value}'")).is_err() {
                return false;
            }
        }
        admin.batch_execute("select pg_reload_conf()").unwrap();
        for _ in 0..500 {
            let mut client = Client::connect(&self.url, NoTls).unwrap();
            let row =
                client.query_one("select current_setting('ssl_cert_file'), current_setting('ssl')", &[]);
            let row = row.unwrap();
            if row.get::<_, String>(0) == certificate {
                return row.get::<_, String>(1) == "on";
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        false
    }

    fn url(&self, user: &str, mode: &str, more: &str) -> String {
        let root = self.file("root.crt").display().to_string();
        format!(
            "host={NAME} hostaddr={} dbname=postgres user={user} password=s3cret sslmode={mode} {more}",
            self.address
        )
        .replace("ROOT", &root)
    }

    /// Whether this connection is encrypted.
    #[track_caller]
    fn encrypted(&mut self, user: &str, mode: &str, more: &str) -> bool {
        let url = self.url(user, mode, &format!("{more} application_name=probe"));
        let store = open(&url);
        let asked =
            "select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'probe'";
        let encrypted = self.admin.as_mut().unwrap().query_one(asked, &[]).unwrap().get(0);
        store.close().unwrap();
        let gone = "select count(*) from pg_stat_activity where application_name = 'probe'";
        while self.admin.as_mut().unwrap().query_one(gone, &[]).unwrap().get::<_, i64>(0) > 0 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        encrypted
    }

    #[track_caller]
    fn refused(&self, user: &str, mode: &str, more: &str, words: &[&str], hint: &str) {
        let error = try_open(&self.url(user, mode, more)).unwrap_err();
        let text = error.to_string();
        for word in words {
            assert!(text.contains(word), "`{word}` in: {text}");
        }
        let given = error.hint().unwrap_or_default();
        assert!(given.contains(hint), "`{hint}` in: {given} (of {text})");
        assert!(!format!("{text}{given}{error:?}").contains("s3cret"), "{error:?}");
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.admin = None;
        if let Some(cluster) = self.cluster.take() {
            cluster.discard().unwrap();
        }
    }
}

fn make_certificates(folder: &Path) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    let authority = |name: &str| {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let root = authority("root of the tests");
    write("root.crt", &root.pem());
    write("other-root.crt", &authority("another root").pem());
    let signed = |name: &str, change: &dyn Fn(&mut CertificateParams)| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
        change(&mut params);
        write(&format!("{name}.crt"), &params.signed_by(&key, &root).unwrap().pem());
        write(&format!("{name}.key"), &key.serialize_pem());
    };
    signed("good", &|_| {});
    let others = CertificateParams::new(["other.test".to_owned()]).unwrap().subject_alt_names;
    signed("named", &|it| it.subject_alt_names.clone_from(&others));
    signed("over", &|it| it.not_after = date_time_ymd(2001, 1, 1));
    signed("early", &|it| it.not_before = date_time_ymd(4001, 1, 1));
    signed("client", &|it| it.distinguished_name.push(rcgen::DnType::CommonName, "certified"));
    // As `openssl req -x509` makes them: an authority that is its own server.
    for (name, until) in [("own", 4000), ("own-over", 2001)] {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(until, 1, 1);
        write(&format!("{name}.crt"), &params.self_signed(&key).unwrap().pem());
        write(&format!("{name}.key"), &key.serialize_pem());
    }
}

#[test]
fn every_mode_and_every_bad_certificate() {
    let Some(mut server) = TlsServer::start() else { return };
    modes(&mut server);
    clients(&mut server);
    certificates(&mut server);
}

fn modes(server: &mut TlsServer) {
    // Who takes both is encrypted when that was preferred.
    assert!(!server.encrypted("either", "disable", ""));
    assert!(!server.encrypted("either", "allow", ""));
    assert!(server.encrypted("either", "prefer", ""));
    assert!(server.encrypted("either", "require", ""));
    assert!(server.encrypted("either", "verify-ca", "sslrootcert=ROOT"));
    assert!(server.encrypted("either", "verify-full", "sslrootcert=ROOT"));
    // Who takes one gets it, where the mode lets them.
    assert!(server.encrypted("alice", "allow", ""));
    assert!(!server.encrypted("plain", "prefer", ""));
    server.refused("alice", "disable", "", &["no encryption", "28000"], "add sslmode=require");
    server.refused("plain", "require", "", &["28000"], "pg_hba.conf");
    // The password is bound to the connection.
    assert!(server.encrypted("alice", "require", "channel_binding=require"));
    let wrong = server.url("alice", "require", "").replace("s3cret", "s3cret-not");
    let text = try_open(&wrong).unwrap_err().to_string();
    assert!(text.contains("28P01") && !text.contains("s3cret"), "{text}");
}

fn clients(server: &mut TlsServer) {
    let (certificate, key) = (server.file("client.crt"), server.file("client.key"));
    let own = format!("sslcert='{}' sslkey='{}'", certificate.display(), key.display());
    assert!(server.encrypted("certified", "require", &own));
    server.refused("certified", "require", "", &["failed to connect"], "");
    server.refused("alice", "require", &format!("sslcert='{}'", key.display()), &["sslkey"], "");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    server.refused("certified", "require", &own, &["others may read sslkey"], "");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let swapped = format!("sslcert='{}' sslkey='{}'", key.display(), key.display());
    server.refused("certified", "require", &swapped, &["has no certificate in PEM"], "");
    let other = server.file("good.key");
    let mixed = format!("sslcert='{}' sslkey='{}'", certificate.display(), other.display());
    server.refused("certified", "require", &mixed, &["do not go together"], "");
}

fn certificates(server: &mut TlsServer) {
    let other = format!("sslrootcert='{}'", server.file("other-root.crt").display());
    for mode in ["require", "verify-ca", "verify-full"] {
        server.refused("either", mode, &other, &["UnknownIssuer"], "sslrootcert=root.crt");
    }
    server.refused("either", "verify-full", "sslrootcert=system", &["UnknownIssuer"], "sslrootcert=root.crt");
    server.refused("either", "verify-ca", "", &["needs the certificate of the authority"], "");

    assert!(server.show("named"));
    server.refused("either", "verify-full", "sslrootcert=ROOT", &["not valid for name"], "subjectAltName");
    assert!(server.encrypted("either", "verify-ca", "sslrootcert=ROOT"));

    assert!(server.show("over"));
    server.refused("either", "verify-ca", "sslrootcert=ROOT", &["expired"], "have it renewed");
    assert!(server.encrypted("either", "require", ""));
    assert!(server.show("early"));
    server.refused("either", "verify-ca", "sslrootcert=ROOT", &["not valid yet"], "check the clocks");

    // A certificate that signed itself is believed when it is named, and in its time.
    assert!(server.show("own"));
    server.refused("either", "verify-full", "sslrootcert=ROOT", &["peer certificate"], "sslrootcert");
    let own = format!("sslrootcert='{}'", server.file("own.crt").display());
    assert!(server.encrypted("either", "verify-full", &own));
    assert!(server.show("own-over"));
    server.refused("either", "verify-ca", &own, &["peer certificate"], "");
    let own = format!("sslrootcert='{}'", server.file("own-over.crt").display());
    server.refused("either", "verify-ca", &own, &["expired"], "have it renewed");
}
