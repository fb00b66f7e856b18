/** The chunks of an AI SDK UI message stream, as far as this host writes them. */
import type { JsonObject } from '@cairn/protocol';

/** What the reader knows of a part without our help: none of its own providers has this name. */
type Annotated = { readonly providerMetadata?: { readonly cairn: JsonObject } };

interface CalledTool {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The host executes it; the page must not. */
  readonly providerExecuted?: true;
  /** Its name is not known when the page is written. */
  readonly dynamic?: true;
}

/** The names of data parts. Their types begin with `data-`. */
export type DataName = 'artifact' | 'problem' | 'progress' | 'question' | 'sign-in' | 'status' | 'subtask' | 'usage';

export interface DataChunk {
  readonly type: `data-${DataName}`;
  /** A part with the same type and id replaces the earlier one. */
  readonly id?: string;
  readonly data: unknown;
  /** Told to the page, and not kept in the message. */
  readonly transient?: true;
}

export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: JsonObject }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | ({ readonly type: 'text-start' | 'reasoning-start'; readonly id: string } & Annotated)
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'text-end' | 'reasoning-end'; readonly id: string }
  | ({ readonly type: 'tool-input-start' } & CalledTool)
  | ({ readonly type: 'tool-input-available'; readonly input: unknown } & CalledTool)
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly reason: string;
    }
  | { readonly type: 'tool-approval-response'; readonly approvalId: string; readonly approved: boolean }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
      readonly providerExecuted?: true;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly providerExecuted?: true;
    }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string }
  | DataChunk
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason?: string }
  | {
      readonly type: 'finish';
      readonly finishReason: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error';
      readonly messageMetadata?: JsonObject;
    }
  | { readonly type: 'message-metadata'; readonly messageMetadata: JsonObject };
