//! LDM and STM, LDRD and STRD, exclusives, table branches (A5.3.5, A5.3.6).

use super::{Place, UNDEFINED, bits, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::op::{Class, Op, flag};

/// Decodes load and store multiple (A5.3.5).
pub(super) fn decode_load_store_multiple(h: u32, k: u32) -> Op {
    let (direction, writes_back, load, rn) = (bits(h, 7, 2), h & 0x20 != 0, h & 0x10 != 0, bits(h, 0, 4));
    let with_pc = k & 0x8000 != 0;
    let (code, class) = match (load, with_pc) {
        (false, _) => (Code::Stm, Class::StoreMultiple),
        (true, false) => (Code::Ldm, Class::LoadMultiple),
        (true, true) => (Code::LdmPc, Class::LoadMultiplePc),
    };
    let op = Op::bare(code, class).n(rn).imm(k).shift(k.count_ones()).kind(u32::from(direction == 2));
    let op = if load { op.also_writes(k) } else { op.also_reads(k) };
    let op = if writes_back { op.writes_base().with(flag::POST_INDEXED) } else { op };
    let unpredictable = rn == 15
        || k.count_ones() < 2
        || k & 0x2000 != 0
        || if load { k >> 14 == 3 } else { with_pc }
        || writes_back && k >> rn & 1 != 0;
    op.undefined_if(!matches!(direction, 1 | 2) || unpredictable)
}

/// Decodes load and store dual or exclusive, and table branches (A5.3.6).
pub(super) fn decode_double_exclusive_table(h: u32, k: u32, place: Place) -> Op {
    if h & 0x120 != 0 { decode_double(h, k, place) } else { decode_exclusive_or_table(h, k, place) }
}

/// Decodes LDRD and STRD.
fn decode_double(h: u32, k: u32, place: Place) -> Op {
    let (pre, up, writes_back, load) = (h & 0x100 != 0, h & 0x80 != 0, h & 0x20 != 0, h & 0x10 != 0);
    let (rn, rt, rt2, imm8) = (bits(h, 0, 4), bits(k, 12, 4), bits(k, 8, 4), bits(k, 0, 8));
    let offset = if up { imm8 * 4 } else { (imm8 * 4).wrapping_neg() };
    let op = match load {
        true => Op::bare(Code::Ldrd, Class::LoadDouble).d(rt).d2(rt2),
        false => Op::bare(Code::Strd, Class::StoreDouble).t(rt).a(rt2),
    };
    let op = op.n(rn).imm(if rn == 15 { place.literal_base().wrapping_add(offset) } else { offset });
    let op = match (writes_back, pre) {
        (true, true) => op.writes_base().with(flag::PRE_INDEXED),
        (true, false) => op.writes_base().with(flag::POST_INDEXED),
        _ => op,
    };
    let unpredictable = is_sp_or_pc(rt)
        || is_sp_or_pc(rt2)
        || load && rt == rt2
        || writes_back && (rn == rt || rn == rt2 || rn == 15)
        || !load && rn == 15;
    op.undefined_if(unpredictable)
}

/// Decodes LDREX, STREX, TBB, TBH and their kin.
fn decode_exclusive_or_table(h: u32, k: u32, place: Place) -> Op {
    let (load, rn, rt) = (h & 0x10 != 0, bits(h, 0, 4), bits(k, 12, 4));
    let load_exclusive = |size, offset| {
        let op = Op::bare(Code::Ldrex, Class::LoadExclusive).d(rt).n(rn).shift(size).imm(offset);
        op.undefined_if(is_sp_or_pc(rt) || rn == 15)
    };
    let store_exclusive = |status: u32, size, offset| {
        let op = Op::bare(Code::Strex, Class::StoreExclusive).t(rt).n(rn).d2(status).shift(size).imm(offset);
        op.undefined_if(is_sp_or_pc(status) || is_sp_or_pc(rt) || rn == 15 || status == rn || status == rt)
    };
    if h & 0x80 == 0 {
        let offset = bits(k, 0, 8) * 4;
        return match load {
            true => load_exclusive(2, offset).undefined_if(bits(k, 8, 4) != 15),
            false => store_exclusive(bits(k, 8, 4), 2, offset),
        };
    }
    match (load, bits(k, 4, 4)) {
        (true, size @ (4 | 5)) => load_exclusive(size - 4, 0).undefined_if(k & 0xf0f != 0xf0f),
        (false, size @ (4 | 5)) => store_exclusive(bits(k, 0, 4), size - 4, 0).undefined_if(bits(k, 8, 4) != 15),
        (true, half @ (0 | 1)) => {
            let rm = bits(k, 0, 4);
            let op = Op::bare(Code::TableBranch, Class::TableBranch).n(rn).m(rm).shift(half).imm(place.pc());
            op.with(flag::REGISTER_OFFSET).undefined_if(rn == 13 || is_sp_or_pc(rm) || k & 0xff00 != 0xf000)
        }
        _ => UNDEFINED,
    }
}
