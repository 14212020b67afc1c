//! Runs a raw binary at the start of the flat RAM on a bare core until it stops, and prints what an instruction
//! costs: `core_speed IMAGE CORE UNTIL [m4]`, with the pipeline of the M4 or with none.

use rtoslab_cpu::v7m::features::Features;
use rtoslab_cpu::v7m::pipeline::m3m4::CortexM4;
use rtoslab_cpu::v7m::pipeline::{Pipeline, Plain};
use rtoslab_machine::flat::{BASE, Flat, STATE_WORDS};
use std::time::Instant;

/// Reads the arguments, and measures the image's speed on a bare core.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let image = std::fs::read(args.get(1).ok_or("give an image")?)?;
    let until = u32::from_str_radix(args.get(2).ok_or("give an address in hex")?, 16)?;
    match args.get(3) {
        None => measure_executed_cycles(Flat::<Plain>::new(Features::CORTEX_M4F), &image, until),
        Some(_) => measure_executed_cycles(Flat::<CortexM4>::new(Features::CORTEX_M4F), &image, until),
    }
    Ok(())
}

/// Runs an image on a bare core until the address `until`, and prints how many instructions per second the host
/// simulated.
fn measure_executed_cycles<P: Pipeline + Default>(mut flat: Flat<P>, image: &[u8], until: u32) {
    flat.write_bytes(BASE, image);
    flat.stop_before_address(until);
    let mut state = [0; STATE_WORDS];
    state[15] = BASE;
    flat.set_register_values(&state);
    let start = Instant::now();
    let reason = flat.run_instructions(100_000_000_000, u64::MAX);
    let seconds = start.elapsed().as_secs_f64();
    let instructions = flat.executed_instruction_count();
    println!("{reason:?}: {instructions} instructions, {:.1} MIPS", instructions as f64 / seconds / 1e6);
}
