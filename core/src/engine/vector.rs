use super::*;
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector(Weights);
impl Vector {
    pub(super) fn new(_: Weights) -> Option<Vector> {
        None
    }
    pub(super) fn weights(&self) -> &Weights {
        &self.0
    }
    pub(super) fn best(&self, well: &Well, piece: Piece, judgement: Judgement) -> Option<Best> {
        scalar::best(&self.0, well, piece, judgement)
    }
}
