/** The text blocks that nodes stream. A block keeps its text, so that its last row can show all of it. */
import type { EventOf } from '../events/event.ts';
import { payloadId } from '../ids.ts';
import { own, put } from './dictionary.ts';

/** A question that was answered, rejected or closed. */
export interface AnsweredView {
  readonly askedAt: number;
}

export interface BlockView {
  readonly contentId: string;
  readonly agentId: string | null;
  /** Chunks so far. */
  pieces: number;
  text: string;
  /** The text is longer than a row can show. */
  cut: boolean;
}

/** The part of a run's view that holds them. */
export interface Streams {
  readonly idToken: string | null;
  /** Open blocks by node, then by channel. */
  blocks: Record<string, Blocks>;
  /** What the latest row ended; its task face still shows it. */
  ended: BlockView | 'tool-call' | 'sign-in' | AnsweredView | null;
}

/** Maximum UTF-16 units of a block. A recorded model response fits, so only text of other hosts is truncated. */
const MAX_BLOCK_UNITS = 512 * 1024;

/** A node that never closes its blocks keeps the newest ones. */
const MAX_BLOCKS_PER_NODE = 32;

/** Adds a chunk to its block. The last chunk closes the block. */
export function streamPiece(
  view: Streams,
  event: EventOf<'output.chunk'>,
  agentOf: (nodeId: string) => string | null,
): void {
  const { chunk, isLast, channel = '' } = event.payload;
  const nodeId = event.nodeId ?? event.payload.nodeId;
  const open = blocksOf(view, nodeId);
  const block =
    own(open, channel) ?? openBlock(open, channel, { contentId: contentIdOf(view, event), agentId: agentOf(nodeId) });
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

/** The id of the block that this row begins. A named channel is used once in its node. */
function contentIdOf({ idToken }: Streams, { nodeId, seq, payload }: EventOf<'output.chunk'>): string {
  const { channel = '' } = payload;
  const place = `${nodeId ?? payload.nodeId}:${seq}`;
  if (idToken === null) return channel === '' ? place : channel;
  return payloadId(idToken, 'content', place);
}

interface Opened {
  readonly contentId: string;
  readonly agentId: string | null;
}

function openBlock(open: Blocks, channel: string, { contentId, agentId }: Opened): BlockView {
  const [oldest, ...others] = Object.keys(open);
  if (oldest !== undefined && others.length + 1 >= MAX_BLOCKS_PER_NODE) delete open[oldest];
  const block = { contentId, agentId, pieces: 0, text: '', cut: false };
  put(open, channel, block);
  return block;
}

/** The open block of a channel. */
export const blockOf = (view: Streams, nodeId: string, channel: string): BlockView | undefined => {
  const open = own(view.blocks, nodeId);
  return open && own(open, channel);
};

/** Drops the open blocks of a node. */
export function dropBlocks(view: Streams, nodeId: string): void {
  delete view.blocks[nodeId];
}
