/// The load average of the last minute; `None` where the system does not keep one.
pub fn load_average() -> Option<f64> {
    sysinfo::System::load_average().ok().map(|it| it.one)
}
