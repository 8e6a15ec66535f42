//! The `osculate` command.
use osculate_cli::crosscheck;
use std::io::Write;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let families = crosscheck::families(args[1].as_ref()).unwrap();
    let mut out = std::io::stdout().lock();
    for f in families.iter().filter(|f| args.len() < 3 || f.is_named(&args[2])) {
        let r = f.check(|| ()).unwrap();
        writeln!(out, "{} cases {} passed {} unsupported {} failed {} worst {:?} {:?} {:?}", r.folder, r.cases, r.passed, r.unsupported, r.failed, r.worst, r.worst_case, r.worst_place).unwrap();
        for x in r.reasons { writeln!(out, "  unsupported {} because {}", x.cases.len(), x.because).unwrap(); }
        for x in r.disagreements { writeln!(out, "  DISAGREES {}: {}", x.case, x.because).unwrap(); }
        if args.len() > 3 { for c in &r.details { writeln!(out, "  {}", c).unwrap(); } }
    }
}
