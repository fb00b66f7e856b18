/** What the engine and the driver of a node tell each other about calls and answers. */
import type { Json, OrchestratorDecision } from '@cairn/protocol';
import type { ActiveNode, OpenCall, StepResult } from '../core/state.ts';

/** An attempt of a node. The ids of its calls are made from it. */
export interface AttemptPlace extends Readonly<Pick<ActiveNode, 'visit' | 'attempt'>> {
  readonly nodeId: string;
  /** Part of every id that the run makes; null for runs that recorded none. */
  readonly idToken: string | null;
}

/** A call that a row of a driven node requests. */
export type RequestedCall = Pick<OpenCall, 'callId' | 'step' | 'safety' | 'attempt' | 'recoveries'>;

/** A change that a row of a driven node makes to its run, besides the driver's state. */
export type RunChange =
  | { readonly kind: 'call-opened'; readonly call: RequestedCall }
  | { readonly kind: 'call-closed'; readonly callId: string; readonly attempt: number }
  /** For the next node that carries out decisions. */
  | { readonly kind: 'decided'; readonly agentId: string; readonly decision: OrchestratorDecision };

/** An answer to an interrupt, as sent. */
export interface SentAnswer {
  readonly value: Json;
  /** The sender, taken from the credential. */
  readonly principal: string | undefined;
  /** The id of the one-time token that the answer came with. */
  readonly tokenId?: string | undefined;
  readonly now: number;
}

/** The result of a call: the performer's return value or error, or a human's decision about an interrupted call. */
export type CallResult = StepResult | { readonly given: Json };
