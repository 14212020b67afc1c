//! How a core comes to an address that is no branch target of its own region.

use super::bus::Bus;
use super::core::{Core, Request};
use super::fault::Fault;
use super::mpu;

/// Puts the core at an interworking address. If nothing may execute there, or the Thumb bit is clear, the fault of the
/// target instruction becomes the request.
pub fn jump_to_interworking_address<B: Bus>(core: &mut Core, bus: &mut B, target: u32) {
    core.thumb = target & 1 != 0;
    core.refetch = false;
    let address = target & !1;
    let permitted = mpu::check_mpu_access_permission(core, address, mpu::Access::Fetch);
    match (permitted, bus.code_region(address)) {
        (Ok(()), Some(region)) => {
            core.stray = None;
            core.region = mpu::subregion_with_same_execute_permission(core, region, address);
            // SAFETY: the offset is inside the region, whose op table is longer than its halfwords.
            core.ip = unsafe { core.region.ops.add((address.wrapping_sub(core.region.base) / 2) as usize) };
            if !core.thumb {
                core.request = Request::Fault(Fault::InvalidState);
            }
        }
        (permitted, _) => {
            core.stray = Some(address);
            core.request = Request::Fault(permitted.err().unwrap_or(Fault::FetchBus));
        }
    }
}
