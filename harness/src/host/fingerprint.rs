use crate::vocab::{Digest, Unit};
use serde_json::{Map, Value, json};
use std::fs;
use std::process::Command;

/// A host as a ledger describes it.
pub struct Fingerprint {
    /// A stable pseudonym: the first digits of a digest over the machine's identity. Never its name.
    pub host: String,
    /// Hardware, kernel and toolchain, and the load when it was taken.
    pub environment: Value,
}

/// Describes this host.
pub fn fingerprint() -> Fingerprint {
    let system = sysinfo::System::new().ok().map(|mut system| {
        system.refresh_memory();
        system.refresh_cpu_all();
        system
    });
    let cpus = system.as_ref().map(sysinfo::System::cpus).unwrap_or_default();
    let cpu = cpus.first().map_or_else(|| "unknown".to_owned(), |it| it.brand().trim().to_owned());
    let mut environment = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            environment.insert(key.to_owned(), value);
        }
    };
    put("cpu", Some(json!(cpu)));
    put("cores", Some(json!(cpus.len())));
    put(
        "memory",
        system.as_ref().map(|it| {
            Unit::parse("B").map_or(Value::Null, |unit| unit.show(it.total_memory() as f64).into())
        }),
    );
    put("os", sysinfo::System::long_os_version().ok().map(Value::from));
    put("kernel", sysinfo::System::kernel_version().ok().map(Value::from));
    put("arch", Some(json!(std::env::consts::ARCH)));
    put("virtual", read("/proc/cpuinfo").map(|it| it.contains("hypervisor").into()));
    put("governor", read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").map(Value::from));
    put("clock", read("/sys/devices/system/clocksource/clocksource0/current_clocksource").map(Value::from));
    put("aslr", read("/proc/sys/kernel/randomize_va_space").map(Value::from));
    put("rustc", version("rustc").map(Value::from));
    put("load", super::load_average().map(Value::from));
    let identity = format!(
        "{}\n{}\n{cpu}",
        read("/etc/machine-id").unwrap_or_default(),
        sysinfo::System::host_name().unwrap_or_default(),
    );
    Fingerprint {
        host: Digest::of(identity).short()[..8].to_owned(),
        environment: Value::Object(environment),
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
}

fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
