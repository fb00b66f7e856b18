/** What is known of a stream before it opens, and while it is open. */
import type { ServerResponse } from 'node:http';
import type { Subscription } from '../../log/feed/sink.ts';
import type { Batches } from './batches.ts';
import type { LongText } from './long-text.ts';

export interface Served {
  readonly tenant: string;
  readonly bufferMs?: number;
  readonly expiresAt: number | undefined;
  /** Names the stream in the report when it fails. */
  readonly what: string;
  /** Sent after each keepalive, as lines that dispatch no event. Default: nothing. */
  readonly alive?: (subscription: Subscription | null) => string;
  /** Sent before the host ends the stream. Default: nothing. */
  readonly farewell?: string;
  /** Sent to a client that stopped reading, which is cut one keepalive later. Default: it is cut at once. */
  readonly reproach?: string;
}

export interface Stream {
  readonly tenant: string;
  readonly response: ServerResponse;
  readonly batches: Batches | null;
  readonly expiresAt: number | undefined;
  readonly alive: NonNullable<Served['alive']>;
  readonly farewell: string;
  readonly reproach: string;
  subscription: Subscription | null;
  /** A text on its way. Nothing else may be written before its end. */
  long: LongText | null;
  written: boolean;
  stalled: boolean;
  stalledTicks: number;
}
