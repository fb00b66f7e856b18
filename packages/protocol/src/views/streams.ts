/** The text that nodes are streaming: each block with its number of pieces, so that its last row can show the whole of it. */
import type { EventOf } from '../events/event.ts';
import { own, put } from './dictionary.ts';

export interface BlockView {
  readonly contentId: string;
  readonly agentId: string | null;
  /** Pieces so far. */
  pieces: number;
  text: string;
  /** The text went on after it was as long as a row can show. */
  cut: boolean;
}

/** The part of a run's view that holds them. */
export interface Streams {
  /** Open blocks by node, then by the channel they come on. */
  blocks: Record<string, Blocks>;
  /** What the latest row brought to its end: its face still shows it. */
  ended: BlockView | 'tool-call' | 'sign-in' | null;
}

/** UTF-16 units kept of a block: what a model's recorded answer can hold, so that only text of other hosts is ever cut. */
const MAX_BLOCK_UNITS = 512 * 1024;

/** A node that leaves blocks open for good keeps the newest. */
const MAX_BLOCKS_PER_NODE = 32;

/** Takes in a piece; the last one also closes its block. */
export function streamPiece(
  view: Streams,
  event: EventOf<'output.chunk'>,
  agentOf: (nodeId: string) => string | null,
): void {
  const { chunk, isLast, channel = '' } = event.payload;
  const nodeId = event.nodeId ?? event.payload.nodeId;
  const open = blocksOf(view, nodeId);
  const block = own(open, channel) ?? openBlock(open, { nodeId, channel, seq: event.seq, agentId: agentOf(nodeId) });
  if (chunk !== '' || !isLast) block.pieces += 1;
  if (block.text.length + chunk.length <= MAX_BLOCK_UNITS) block.text += chunk;
  else block.cut = true;
  if (!isLast) return;
  view.ended = block;
  delete open[channel];
  if (Object.keys(open).length === 0) delete view.blocks[nodeId];
}

type Blocks = Record<string, BlockView>;

function blocksOf(view: Streams, nodeId: string): Blocks {
  let open = own(view.blocks, nodeId);
  if (open === undefined) {
    open = {};
    put(view.blocks, nodeId, open);
  }
  return open;
}

interface BlockPlace {
  readonly nodeId: string;
  readonly channel: string;
  readonly seq: number;
  readonly agentId: string | null;
}

function openBlock(open: Blocks, { nodeId, channel, seq, agentId }: BlockPlace): BlockView {
  const [oldest, ...others] = Object.keys(open);
  if (oldest !== undefined && others.length + 1 >= MAX_BLOCKS_PER_NODE) delete open[oldest];
  const contentId = channel === '' ? `${nodeId}:${seq}` : channel;
  const block = { contentId, agentId, pieces: 0, text: '', cut: false };
  put(open, channel, block);
  return block;
}

/** The block a piece was just taken into. */
export const blockOf = (view: Streams, nodeId: string, channel: string): BlockView | undefined => {
  const open = own(view.blocks, nodeId);
  return open && own(open, channel);
};

/** What the node was streaming ends without its last piece. */
export function dropBlocks(view: Streams, nodeId: string): void {
  delete view.blocks[nodeId];
}
