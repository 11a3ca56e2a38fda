//! # print-lanes

use super::print_function::Printer;

impl Printer<'_> {
    pub(super) fn lanes(&mut self) {}
}
