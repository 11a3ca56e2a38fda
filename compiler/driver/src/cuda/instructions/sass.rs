//! # sass
//!
//! Purpose: machine code as nvdisasm prints it (`nvdisasm -c`), for the walker. Input: the text, a kernel's name, the architecture. Output: a [`Code`] without constants.
//!
//! What computes integers and conditions is understood; what else writes a register makes it unknown. So a mistake here can only come from an instruction that is understood wrongly, or that
//! writes more registers than its name says: `.64`, `.128` and `WIDE` do.

mod compute;
mod operands;

use super::table::{Class, cycles};
use super::{Action, Code, Instruction, Operand};
use crate::cuda::arch::Arch;
use operands::{Line, REGISTERS, ZERO};
use std::collections::BTreeMap;

/// Reads the code of one kernel.
pub fn read(text: &str, kernel: &str, arch: Arch) -> Option<Code> {
    let begin = format!(".text.{kernel}:");
    let mut lines = text.lines().enumerate().skip_while(|(_, l)| l.trim_end() != begin);
    lines.next()?;
    let own = lines.take_while(|(_, l)| !l.trim_start().starts_with(".section") && !l.starts_with("//----"));
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all: Vec<(usize, Line<'_>)> = Vec::new();
    for (number, line) in own {
        let line = line.trim();
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, all.len());
        } else if let Some(read) = Line::read(line) {
            all.push((number + 1, read));
        }
    }
    let instructions = all.iter().map(|(number, line)| instruction(line, *number, &labels, arch)).collect();
    Some(Code { instructions, registers: REGISTERS, known: vec![(ZERO, 0)], ..Code::default() })
}

fn instruction(line: &Line<'_>, number: usize, labels: &BTreeMap<&str, usize>, arch: Arch) -> Instruction {
    let mut guard: Vec<Operand> = line.guard.into_iter().collect();
    let to = || line.label().and_then(|l| labels.get(l).copied());
    let action = match line.name {
        "BRA" => {
            // conditions may stand before the label, too
            guard.extend(line.arguments.iter().filter(|a| !a.starts_with('`')).map(|a| operands::condition(a)));
            to().map_or(Action::Beyond("a jump out of the kernel"), Action::Jump)
        }
        // a label of the function's own: nobody comes back from there
        "CALL" if line.label().is_some_and(|l| l.starts_with(".L_")) => {
            to().map_or(Action::Beyond("a jump out of the kernel"), Action::Jump)
        }
        "CALL" => to().map_or(Action::Beyond("a call through a pointer"), Action::Call),
        "RET" => Action::Return,
        "EXIT" | "KILL" => Action::Exit,
        "BRX" | "JMX" | "BRXU" | "JMP" | "JMXU" | "BPT" => Action::Beyond("a jump through a table"),
        "BAR" if line.has("ARV") || line.has("SYNC") && line.arguments.first() != Some(&"0x0") => {
            Action::Beyond("a barrier of a part of the block")
        }
        "BAR" => Action::Barrier,
        "STL" | "LDL" if line.spills => {
            operands::local(line, bytes(line)).unwrap_or(Action::Beyond("registers kept in a way that is not known"))
        }
        _ => Action::Writes(compute::effects(line)),
    };
    let (unit, cycles) = cycles(class(line), arch);
    Instruction { guard, unit, cycles, action, line: number }
}

/// Bytes of a thread that an instruction of memory moves.
fn bytes(line: &Line<'_>) -> u32 {
    let widths = [("64", 8), ("128", 16), ("256", 32)];
    widths.into_iter().find(|(name, _)| line.has(name)).map_or(4, |(_, bytes)| bytes)
}

fn class(line: &Line<'_>) -> Class {
    let name = line.name;
    match name {
        "LDG" | "STG" | "LDS" | "STS" | "LDL" | "STL" | "LD" | "ST" | "LDGSTS" | "LDSM" | "STSM" | "ATOM" | "ATOMG"
        | "ATOMS" | "RED" | "REDG" | "REDS" | "REDUX" | "SHFL" | "LDC" | "CCTL" | "TEX" | "TLD" | "SUST" | "SULD" => {
            Class::Memory(bytes(line))
        }
        "FADD" | "FMUL" | "FFMA" | "FADD32I" | "FMUL32I" | "FFMA32I" | "FSWZADD" | "HADD2" | "HMUL2" | "HFMA2" => {
            Class::Float
        }
        "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" => Class::Double,
        "MUFU" => Class::Special,
        "I2F" | "F2I" | "F2F" | "I2I" | "FRND" | "F2FP" | "I2FP" | "POPC" | "FLO" | "BREV" => Class::Conversion,
        "BRA" | "CALL" | "RET" | "EXIT" | "BAR" | "NOP" | "BSSY" | "BSYNC" | "BREAK" | "WARPSYNC" | "YIELD"
        | "MEMBAR" | "ERRBAR" | "DEPBAR" | "LDGDEPBAR" | "BMOV" | "S2R" | "S2UR" | "R2UR" | "CS2R" | "KILL"
        | "NANOSLEEP" | "FENCE" | "ELECT" => Class::Control,
        // what is computed once for a warp, by the uniform data path
        _ if name.starts_with('U') || name == "LDCU" => Class::Control,
        _ => Class::Integer,
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::Meetings;
    use super::super::walk::{NoTrace, walk};
    use super::*;

    fn kernel(lines: &str) -> Code {
        let text =
            format!("\t.section .text.k\n.text.k:\n{lines}\n//--------------------- .text.other ----\n.text.other:\n");
        read(&text, "k", Arch::of_number(80)).unwrap()
    }

    fn counts(code: &Code, threads: u32) -> Result<(u64, u64, usize), NoTrace> {
        let trace = walk(code, &Meetings::of(code), 0, threads)?;
        let sum = |f: fn(&super::super::walk::Phase) -> u64| trace.phases.iter().map(f).sum::<u64>();
        Ok((sum(|p| p.loads), sum(|p| p.cores), trace.phases.len()))
    }

    #[test]
    fn a_loop_over_the_threads_of_a_block() {
        // for (r8 = thread; r8 < c; r8 += 32) load
        let loop_to = |end: &str| {
            kernel(&format!(
                "/*0000*/ S2R R8, SR_TID.X ;\n.L_x_0:\n/*0010*/ IMAD.WIDE.U32 R16, R8, 0x4, R14 ;\n/*0020*/ LDG.E R16, desc[UR6][R16.64] ;\n\
                 /*0030*/ VIADD R8, R8, 0x20 ;\n/*0040*/ ISETP.GE.U32.AND P1, PT, R8, {end}, PT ;\n/*0050*/ @!P1 BRA `(.L_x_0) ;\n/*0060*/ EXIT ;\n"
            ))
        };
        assert_eq!(counts(&loop_to("0x60"), 32), Ok((3, 14, 1)));
        // half of the warp goes round once more
        assert_eq!(counts(&loop_to("0x50"), 32), Ok((3, 14, 1)));
        assert_eq!(counts(&loop_to("0x40"), 32), Ok((2, 10, 1)));
        assert_eq!(counts(&loop_to("c[0x0][0x160]"), 32), Err(NoTrace::Endless(9)));
        let mut told = loop_to("c[0x0][0x160]");
        told.constants.word(0, 0x160, 0x60);
        assert_eq!(counts(&told, 32), Ok((3, 14, 1)));
    }

    #[test]
    fn functions_barriers_and_wide_moves() {
        let code = kernel(
            "/*0000*/ MOV R0, 0x20 ;\n/*0010*/ CALL.REL.NOINC `($f$_Z1g) ;\n/*0020*/ BAR.SYNC.DEFER_BLOCKING 0x0 ;\n/*0030*/ @P0 EXIT ;\n/*0040*/ EXIT ;\n\
             .type $f$_Z1g,@function\n$f$_Z1g:\n/*0050*/ LDG.E.128 R4, desc[UR6][R2.64] ;\n/*0060*/ RET.REL.NODEC R0 `(k) ;\n.L_x_9:\n/*0070*/ BRA `(.L_x_9);\n",
        );
        assert_eq!(counts(&code, 32), Ok((4, 6, 2)));
        let table = kernel("/*0000*/ BRX R2 -0x10 ;\n");
        assert_eq!(counts(&table, 32), Err(NoTrace::Beyond(3, "a jump through a table")));
        assert!(read("", "k", Arch::of_number(80)).is_none());
    }

    #[test]
    fn a_call_of_a_label_is_a_jump() {
        let code = kernel(
            "/*0000*/ MOV R4, 0x0 ;\n.L_x_0:\n/*0010*/ IADD3 R4, R4, 0x1, RZ ;\n/*0020*/ ISETP.GE.AND P0, PT, R4, 0x3, PT ;\n\
             /*0030*/ @P0 CALL.REL.NOINC `(.L_x_1) ;\n/*0040*/ BRA `(.L_x_0) ;\n.L_x_1:\n/*0050*/ EXIT ;\n",
        );
        assert_eq!(counts(&code, 32), Ok((0, 1 + 3 * 3 + 2 + 1, 1)));
    }

    #[test]
    fn a_warp_wide_condition_before_the_label() {
        let code = kernel(
            "/*0000*/ UMOV UR4, 0x2 ;\n.L_x_0:\n/*0010*/ UIADD3 UR4, UPT, UPT, UR4, -0x1, URZ ;\n/*0020*/ UISETP.NE.U32.AND UP0, UPT, UR4, URZ, UPT ;\n\
             /*0030*/ BRA.U UP0, `(.L_x_0) ;\n/*0040*/ EXIT ;\n",
        );
        assert_eq!(counts(&code, 32), Ok((0, 8, 1)));
    }

    #[test]
    fn the_smaller_of_two_as_old_and_new_machines_write_it() {
        for least in
            ["VIMNMX.U32 R6, R5, 0x3, PT", "VIMNMX.U32 R6, PT, PT, R5, 0x3, PT", "VIADDMNMX.U32 R6, R5, 0x0, RZ, !PT"]
        {
            let code = kernel(&format!(
                "/*0000*/ MOV R5, 0x80 ;\n/*0010*/ MOV R4, 0x0 ;\n/*0020*/ {least} ;\n/*0030*/ VIMNMX.U32 R6, R6, 0x3, PT ;\n.L_x_0:\n\
                 /*0040*/ IADD3 R4, PT, PT, R4, 0x1, RZ ;\n/*0050*/ ISETP.LT.U32.AND P0, PT, R4, R6, PT ;\n/*0060*/ @P0 BRA `(.L_x_0) ;\n/*0070*/ EXIT ;\n"
            ));
            assert_eq!(counts(&code, 32), Ok((0, 4 + 3 * 3 + 1, 1)), "{least}");
        }
    }

    #[test]
    fn where_memory_begins_is_known_as_far_as_it_is_aligned() {
        // as many turns as there are words of four up to the next 16 bytes, from an address on that has 24 bytes, and 32 for each block, added to it
        let code = |offset: &str| {
            kernel(&format!(
                "/*0000*/ LDC.64 R2, c[0x0][0x160] ;\n/*0010*/ S2R R5, SR_CTAID.X ;\n/*0020*/ IMAD.WIDE.U32 R2, R5, 0x20, R2 ;\n/*0030*/ IADD3 R2, P0, R2, {offset}, RZ ;\n\
                 /*0040*/ IMAD.MOV R4, RZ, RZ, -R2 ;\n/*0050*/ LOP3.LUT R4, R4, 0xc, RZ, 0xc0, !PT ;\n.L_x_0:\n/*0060*/ IADD3 R4, R4, -0x4, RZ ;\n\
                 /*0070*/ ISETP.GT.AND P0, PT, R4, RZ, PT ;\n/*0080*/ @P0 BRA `(.L_x_0) ;\n/*0090*/ EXIT ;\n"
            ))
        };
        assert!(matches!(counts(&code("0x18"), 32), Err(NoTrace::Endless(_))));
        for (offset, turns) in [("0x18", 2), ("0x14", 3), ("0x1c", 1)] {
            let mut code = code(offset);
            code.constants.address(0, 0x160);
            assert_eq!(counts(&code, 32), Ok((2, 5 + 3 * turns + 1, 1)), "{offset}");
        }
    }

    #[test]
    fn divisions_by_numbers_of_a_launch() {
        // thread / threads of the block, as the compiler writes it, is how often the loop goes on
        let mut code = kernel(
            "/*0000*/ I2F.U32.RP R0, c[0x0][0x0] ;\n/*0010*/ MUFU.RCP R0, R0 ;\n/*0020*/ IADD3 R2, R0, 0xffffffe, RZ ;\n/*0030*/ F2I.FTZ.U32.TRUNC.NTZ R3, R2 ;\n\
             /*0040*/ MOV R2, RZ ;\n/*0050*/ IADD3 R5, RZ, -R3, RZ ;\n/*0060*/ IMAD R5, R5, c[0x0][0x0], RZ ;\n/*0070*/ IMAD.HI.U32 R3, R3, R5, R2 ;\n\
             /*0080*/ S2R R6, SR_TID.X ;\n/*0090*/ IMAD.HI.U32 R3, R3, R6, RZ ;\n/*00a0*/ IADD3 R4, -R3, RZ, RZ ;\n/*00b0*/ IMAD R6, R4, c[0x0][0x0], R6 ;\n\
             /*00c0*/ ISETP.GE.U32.AND P0, PT, R6, c[0x0][0x0], PT ;\n/*00d0*/ @P0 IADD3 R6, R6, -c[0x0][0x0], RZ ;\n/*00e0*/ @P0 IADD3 R3, R3, 0x1, RZ ;\n\
             /*00f0*/ ISETP.GE.U32.AND P1, PT, R6, c[0x0][0x0], PT ;\n/*0100*/ @P1 IADD3 R3, R3, 0x1, RZ ;\n.L_x_0:\n/*0110*/ IADD3 R3, R3, -0x1, RZ ;\n\
             /*0120*/ ISETP.GE.AND P0, PT, R3, RZ, PT ;\n/*0130*/ @P0 BRA `(.L_x_0) ;\n/*0140*/ EXIT ;\n",
        );
        let mut cores = |threads: u32| {
            code.constants.word(0, 0, threads);
            counts(&code, 32).unwrap().1
        };
        // of the threads 0 to 31 the last one divides best: floor(31 / 10) turns more, floor(31 / 7), none
        let once = cores(96);
        assert_eq!([cores(10), cores(7), cores(31), cores(32)], [once + 9, once + 12, once + 3, once]);
    }

    #[test]
    fn constants_in_memory_and_in_halves_of_floats() {
        // r5 = 0x1678, as two halves of floats; the number at c[3][0x1680] counts a loop
        let mut code = kernel(
            "/*0000*/ HFMA2.MMA R5, -RZ, RZ, 0, 0.00157928466796875 ;\n/*0010*/ LDC.64 R2, c[0x3][R5+0x8] ;\n.L_x_0:\n/*0020*/ IADD3 R3, R3, -0x1, RZ ;\n\
             /*0030*/ ISETP.NE.AND P0, PT, R3, RZ, PT ;\n/*0040*/ @P0 BRA `(.L_x_0) ;\n/*0050*/ EXIT ;\n",
        );
        let mut bytes = vec![0; 0x1688];
        bytes[0x1684] = 4;
        code.constants.bank(3, bytes);
        assert_eq!(counts(&code, 32), Ok((2, 14, 1)));
    }
}
