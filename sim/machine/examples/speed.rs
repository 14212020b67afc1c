//! Runs an image to a symbol and prints simulated instructions per second:
//! `speed IMAGE [SYMBOL] [CHIP] [CORES] [profile] [KEY=VALUE …]`.

use rtoslab_machine::ParsedImageFile;
use rtoslab_machine::board::Options;
use rtoslab_machine::boards::create_board_of_chip;
use std::time::Instant;

/// Reads the arguments, runs the image on a board, and prints how many instructions per second the host simulated.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let name = args.get(1).ok_or("give an image")?;
    let until = args.get(2).map_or("workload_done", String::as_str);
    let chip = args.get(3).map_or("rp2040", String::as_str);
    let cores = args.get(4).map_or(Ok(1), |text| text.parse())?;
    let mut machine = create_board_of_chip(chip, &Options { cores, ..Options::default() })?;
    for (key, value) in args.iter().filter_map(|arg| arg.split_once('=')) {
        machine.set_timing_rule(key, value.parse()?)?;
    }
    let data = std::fs::read(name)?;
    let image = ParsedImageFile::parse_firmware_image(&data, name)?;
    machine.load_image(&data, name)?;
    machine.stop_before_address(image.symbol_address(until).ok_or("no such symbol")?);
    machine.set_profiling(args.iter().any(|arg| arg == "profile"));
    let start = Instant::now();
    let stop = machine.run_cycles(100_000_000_000);
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
    let result = image.symbol_address("workload_result").and_then(|address| machine.read_memory(address, 8));
    println!("{result:02x?}");
    for warning in machine.warnings() {
        println!("warning: {warning}");
    }
    Ok(())
}
