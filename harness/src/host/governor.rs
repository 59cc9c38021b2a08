use super::Kernel;

/// The frequency governors of all processors, each once; `None` if the kernel shows none.
pub fn governors(kernel: &Kernel) -> Option<Vec<String>> {
    let read = |cpu: &String| kernel.read(format!("sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor"));
    let mut all: Vec<String> = kernel.processors().iter().filter_map(read).collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then_some(all)
}
