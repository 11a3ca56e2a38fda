use super::*;
pub fn trials(_: &Arc<Pool>) -> Vec<Trial> {
    vec![]
}
