// DMA.
//
// The stock controller aborts a channel when told so, but does not let a driver read whether the abort is done.

const CHAN_ABORT = 0x444;

export function acceptAborts(dma) {
  const read = dma.readUint32.bind(dma);
  dma.readUint32 = (offset) => (offset === CHAN_ABORT ? 0 : read(offset));
}
