use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check = Check {
    name: "huge pages",
    why: "whether memory comes in large pages is luck, and worth several percent",
    look,
};

fn look(it: &Patient) -> Finding {
    let text = it.kernel.read("sys/kernel/mm/transparent_hugepage/enabled");
    let chosen = text.as_deref().and_then(|it| it.split_once('[')?.1.split_once(']'));
    match chosen {
        None => Finding::hidden(),
        Some(("always", _)) => {
            Finding::unfit("always", "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled")
        }
        Some((word, _)) => Finding::fit(word),
    }
}
