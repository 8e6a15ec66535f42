//! The `osculate` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    osculate_cli::main()
}
