//! Runs an image to a symbol and prints simulated instructions per second: `speed IMAGE [SYMBOL] [CORES] [PROFILE]`.

use rtoslab_machine::rp2040::{Machine, Options};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let name = args.get(1).ok_or("give an image")?;
    let until = args.get(2).map_or("workload_done", String::as_str);
    let cores = args.get(3).map_or(Ok(1), |text| text.parse())?;
    let mut machine = Machine::new(Options { cores, ..Options::default() });
    machine.load(&std::fs::read(name)?, name)?;
    let address = machine.symbol(until).ok_or("no such symbol")?;
    machine.instruments().until(address);
    machine.profile(args.get(4).is_some());
    let start = Instant::now();
    let stop = machine.run(100_000_000_000);
    let seconds = start.elapsed().as_secs_f64();
    println!("{stop:?}");
    for core in 0..cores {
        let stats = machine.core_stats(core);
        println!(
            "core {core}: {} instructions, {:.1} MIPS, {} cycles, {} bus wait, {} flash wait",
            stats.instructions,
            stats.instructions as f64 / seconds / 1e6,
            stats.cycles - stats.sleep_cycles,
            stats.bus_wait_cycles,
            stats.flash_wait_cycles
        );
    }
    let result = machine.symbol("workload_result").and_then(|a| machine.instruments().read(a, 8));
    println!("{result:02x?}");
    for warning in machine.instruments().warnings() {
        println!("warning: {warning}");
    }
    Ok(())
}
