//! The order of packed events, as [`Event::encode_recorded_events`] writes them.

use std::collections::HashSet;

use crate::event::{Event, Kind};

/// Offset of the identity in a packed event. Kind and core follow it.
const ID_AT: usize = 16;
const KIND_AT: usize = 18;

/// The bytes of one event.
type PackedEvent = [u8; Event::BYTES];

/// Returns packed events in the order of time, without those of the identity (`id`) `other_than`. If a handler ends
/// with a tail call, the return from that function comes first in their common cycle. Bytes at the end that are no
/// whole event are dropped.
#[must_use]
pub fn sort_packed_events_by_time(records: &[u8], other_than: Option<u16>) -> Vec<u8> {
    sort_packed_events_by_cycle(records, other_than).concat()
}

/// Returns the last event of each kind, core and identity, in the order of time, without those of the identity
/// `other_than`. They show the state after all events.
#[must_use]
pub fn latest_recorded_event_of_each_kind(records: &[u8], other_than: Option<u16>) -> Vec<u8> {
    let mut known = HashSet::new();
    let mut events = sort_packed_events_by_cycle(records, other_than);
    events.reverse();
    events.retain(|event| known.insert([event[ID_AT], event[ID_AT + 1], event[KIND_AT], event[KIND_AT + 1]]));
    events.reverse();
    events.concat()
}

/// Returns packed events in the order of their cycles, without those of the identity (`id`) `other_than`.
fn sort_packed_events_by_cycle(records: &[u8], other_than: Option<u16>) -> Vec<PackedEvent> {
    let (records, _) = records.as_chunks::<{ Event::BYTES }>();
    let id = |event: &PackedEvent| u16::from_le_bytes([event[ID_AT], event[ID_AT + 1]]);
    let mut events: Vec<PackedEvent> = records.iter().filter(|event| other_than != Some(id(event))).copied().collect();
    let cycle = |event: &PackedEvent| event.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    events.sort_by_key(|event| (cycle(event), event[KIND_AT] != Kind::Return as u8));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack_recorded_events(events: &[(u64, Kind, u16, u8)]) -> Vec<u8> {
        let event = |&(cycle, kind, id, core): &(u64, Kind, u16, u8)| {
            Event { cycle, value: 0, pc: 0, id, kind: kind as u8, core, more: 0 }.to_bytes()
        };
        events.iter().flat_map(event).collect()
    }

    #[test]
    fn returns_come_first_in_a_cycle_and_all_else_keeps_its_order() {
        use Kind::{Call, ExceptionExit, Return, Write};
        let events =
            [(256, Write, 3, 0), (1, ExceptionExit, 2, 0), (1, Call, 9, 1), (1, Return, 5, 0), (1, Return, 4, 0)];
        let order = [events[3], events[4], events[1], events[2], events[0]];
        assert_eq!(sort_packed_events_by_time(&pack_recorded_events(&events), None), pack_recorded_events(&order));
        let cut = [&pack_recorded_events(&events)[..], &[0xff; Event::BYTES - 1]].concat();
        assert_eq!(
            sort_packed_events_by_time(&cut, Some(5)),
            pack_recorded_events(&[events[4], events[1], events[2], events[0]])
        );
    }

    #[test]
    fn only_the_last_event_of_each_kind_core_and_identity_stays() {
        use Kind::{Thread, Write};
        let events = [(1, Write, 3, 0), (2, Write, 3, 1), (3, Thread, 3, 0), (4, Write, 0x103, 0), (5, Write, 3, 0)];
        assert_eq!(
            latest_recorded_event_of_each_kind(&pack_recorded_events(&events), None),
            pack_recorded_events(&events[1..])
        );
        assert_eq!(
            latest_recorded_event_of_each_kind(&pack_recorded_events(&events), Some(3)),
            pack_recorded_events(&events[3..4])
        );
        assert_eq!(latest_recorded_event_of_each_kind(&[], None), []);
    }
}
