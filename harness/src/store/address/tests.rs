use super::*;

fn parse(text: &str, variables: &[(&str, &str)]) -> Result<Address, StoreError> {
    let variable =
        |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
    Address::parse_in(text, &Surroundings { variable: &variable, account: &|| Some("me".to_owned()) })
}

#[track_caller]
fn check(text: &str, location: &str) {
    match parse(text, &[]) {
        Ok(address) => assert_eq!(address.location(), location),
        Err(error) => assert_eq!(error.to_string(), format!("unusable database URL: {location}")),
    }
}

#[test]
fn passwords_are_never_shown() {
    check(
        "postgres://alice:s3cret@db.example:6000/perf?sslmode=prefer",
        "postgresql://alice@db.example:6000/perf",
    );
    check(
        "host=db.example user=alice password='s3 \\' cret' dbname=perf",
        "postgresql://alice@db.example/perf",
    );
    check("postgresql:///perf?host=/run/pg%20x&user=bob", "postgresql://bob@/perf?host=/run/pg%20x");
    check("postgres://[::1]:5433/p", "postgresql://me@[::1]:5433/p");
    check("postgres://h1,h2:6000/p", "postgresql://me@h1,h2:6000/p");
    check("host=/a,h port=1,2 user=u", "postgresql://u@/u?host=/a,h&port=1,2");
    let address = parse("postgres://a:s3cret@h/d", &[]).unwrap();
    assert!(!format!("{:?}{}", address.endpoints[0].config(), address.url()).contains("s3cret"));
    assert_eq!(own_password("postgres://a:s3%63ret@h/d").as_deref(), Some("s3cret"));
    assert_eq!(own_password("postgres://a@h/d"), None);
}

#[test]
fn other_programs_get_what_they_need() {
    let url = |text: &str| parse(text, &[("PGSSLMODE", "require")]).unwrap().url().to_owned();
    assert_eq!(
        url("postgres://a:s3cret@h/d?options=-cwork_mem%3D8MB"),
        "postgresql://a@h/d?options=-cwork_mem%3D8MB%20-csearch_path%3Dharness&sslmode=require"
    );
}

#[test]
fn unusable_urls_are_refused_in_words() {
    check(
        "host=h sslmode=s3cret",
        "unknown sslmode: it is disable, allow, prefer, require, verify-ca or verify-full",
    );
    check(
        "postgres://h/d?sslmode=verify-ca",
        "sslmode=verify-ca needs the certificate of the authority: sslrootcert=root.crt",
    );
    check(
        "postgres://h/d?sslrootcert=system&sslmode=require",
        "sslrootcert=system needs sslmode=verify-full: anybody can have such a certificate",
    );
    check("postgres://h/d?sslcert=/nonexistent/x", "sslcert needs its sslkey");
    check("postgres://h/d?connect_timeout=s3cret", "invalid value for option `connect_timeout`");
    check("host=a,b,c port=1,2", "2 ports for 3 hosts");
    check("host=a,b hostaddr=::1", "2 hosts and 1 hostaddrs");
    check("host=a hostaddr=s3cret", "a hostaddr that is no numeric address");
    check(
        "postgres://a:s3:cret@h:x/d",
        "a port that is no number from 1 to 65535 (a `:` or `@` in the password is %3A or %40)",
    );
    check(
        "postgres://h/d?target_session_attrs=x",
        "unknown target_session_attrs: it is any, read-write, read-only, primary, standby or prefer-standby",
    );
    let error = parse("postgres://h/d?sslmode=require&sslrootcert=/nonexistent/root.crt", &[]);
    let text = error.err().unwrap().to_string();
    assert!(text.contains("failed to read sslrootcert `/nonexistent/root.crt`"), "{text}");
}

#[test]
fn the_machines_trust_is_there_when_asked_for() {
    for text in ["postgres://h/d?sslmode=verify-full", "postgres://h/d?sslrootcert=system"] {
        assert!(
            parse(text, &[]).is_ok_and(|it| it.endpoints[0].tls_mode() == Some(Mode::VerifyFull)),
            "{text}"
        );
    }
    assert!(parse("postgres://h/d", &[]).is_ok_and(|it| it.endpoints[0].tls_mode() == Some(Mode::Prefer)));
    assert!(parse("host=/tmp sslmode=require", &[]).is_ok_and(|it| it.endpoints[0].tls_mode().is_none()));
}
