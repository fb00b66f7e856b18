/** The interrupts of a run: the open ones with the data that answers are checked against, and how each closed one ended. */
import type { PayloadOf } from '../events/catalogue.ts';
import {
  CLIENT_TOOL_EVENT,
  type InterruptKind,
  REQUIRE_USER,
  SIGN_IN_EVENT,
  type Urgency,
} from '../interrupts/interrupts.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { own, put } from './dictionary.ts';
import { type WaitCounts, waitingStatus } from './status.ts';

/** A decision of one approver at a gate that needs several. */
export interface VoteView {
  readonly principal: string;
  readonly action: string;
  readonly feedback?: string;
}

export interface InterruptView {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly kind: InterruptKind;
  readonly key: string;
  readonly data: JsonObject;
  readonly resumeSchema: JsonObject | null;
  readonly timeoutMs: number | null;
  readonly requestedAt: number;
  readonly expiresAt: number | null;
  readonly votes: VoteView[];
  /** seq of its `interrupt.requested`. */
  readonly seq: number;
  /** Whether its node is suspended on it. Only then does the run show as waiting. */
  suspended: boolean;
  /** How soon an answer is needed, if the tool that asks says so. */
  readonly urgency?: Urgency;
  /** An agent of a run above may answer it; people are not asked yet. */
  withAgent?: true;
}

/** How an interrupt ended: answered, expired, or cancelled with its node or run. */
export type InterruptEnd = 'resolved' | 'expired' | 'cancelled';

/** The part of a run's view that holds them. */
export interface Interrupts {
  /** The open ones, by id. */
  interrupts: Record<string, InterruptView>;
  resolvedInterrupts: Record<string, InterruptEnd>;
  /** Of the open ones whose node is suspended. */
  waits: WaitCounts;
  /** How many of them are sign-ins. */
  signIns: number;
  /** Ids in the order of suspension. The first is open; closed ones are removed when they become first. */
  waitOrder: string[];
}

/** Whether the interrupt is a sign-in: an external event with an `authType`. */
export function isSignIn(interrupt: Pick<InterruptView, 'kind' | 'data'>): boolean {
  const { correlation } = interrupt.data;
  if (interrupt.kind !== 'external-event') return false;
  return isJsonObject(correlation) && typeof correlation.authType === 'string';
}

/** Whether the host itself carries out the sign-in. It takes no other answer. */
export const isHostSignIn = (interrupt: Pick<InterruptView, 'kind' | 'data'>): boolean =>
  interrupt.data.eventType === SIGN_IN_EVENT && isSignIn(interrupt);

/** Whether the user refused to sign in, by the value that resolved the interrupt. */
export const isDeniedSignIn = (resumeValue: Json | undefined): boolean =>
  isJsonObject(resumeValue) && isJsonObject(resumeValue.eventPayload) && resumeValue.eventPayload.denied === true;

/** Whether the interrupt is a tool call that the client executes. */
export const isClientCall = ({ kind, data }: Pick<InterruptView, 'kind' | 'data'>): boolean =>
  kind === 'external-event' && data.eventType === CLIENT_TOOL_EVENT;

/** Whether only the originating user may answer. The client of that user offered the tools that clients execute. */
export const requiresUser = (interrupt: Pick<InterruptView, 'kind' | 'data'>): boolean =>
  interrupt.data.contextType === REQUIRE_USER || isHostSignIn(interrupt) || isClientCall(interrupt);

const ends: Readonly<Record<string, InterruptEnd>> = { timeout: 'expired', canceled: 'cancelled' };

/** How an interrupt ended, by the reason of its resolution. */
export const interruptEnd = (reason: string | undefined): InterruptEnd => own(ends, reason ?? '') ?? 'resolved';

/** The interrupt that has waited longest. The run shows its node. */
export function oldestWait(view: Interrupts): InterruptView | undefined {
  const first = view.waitOrder[0];
  return first === undefined ? undefined : own(view.interrupts, first);
}

/** All interrupts that the run waits for, oldest first. */
export const openWaits = (view: Interrupts): InterruptView[] =>
  view.waitOrder.flatMap((interruptId) => own(view.interrupts, interruptId) ?? []);

export function openInterrupt(
  view: Interrupts,
  place: { readonly interruptId: string; readonly nodeId: string; readonly seq: number; readonly at: number },
  asked: PayloadOf<'interrupt.requested'>,
): void {
  const timeoutMs = asked.timeoutMs ?? null;
  put(view.interrupts, place.interruptId, {
    interruptId: place.interruptId,
    nodeId: place.nodeId,
    kind: asked.kind,
    key: asked.key,
    // A log from another host may omit it.
    data: asked.data ?? {},
    resumeSchema: asked.resumeSchema ?? null,
    timeoutMs,
    requestedAt: place.at,
    expiresAt: timeoutMs === null ? null : place.at + timeoutMs,
    votes: [],
    seq: place.seq,
    suspended: false,
    ...(asked.routedTo === 'agent' && { withAgent: true }),
    ...(asked.urgency !== undefined && { urgency: asked.urgency }),
  });
}

/** From now on people are asked. */
export function forwardToUser(view: Interrupts, interruptId: string): void {
  const interrupt = own(view.interrupts, interruptId);
  if (interrupt !== undefined) delete interrupt.withAgent;
}

const waitCount = (waits: WaitCounts): number =>
  waits['waiting-approval'] + waits['waiting-input'] + waits['waiting-external'];

/** The node now waits for the answer. */
export function suspendOn(view: Interrupts, interruptId: string): void {
  const interrupt = own(view.interrupts, interruptId);
  if (interrupt === undefined || interrupt.suspended) return;
  interrupt.suspended = true;
  view.waits[waitingStatus(interrupt.kind)] += 1;
  if (isSignIn(interrupt)) view.signIns += 1;
  view.waitOrder.push(interruptId);
  // An unanswered interrupt must not retain the ids of all later ones.
  if (view.waitOrder.length > 2 * waitCount(view.waits) + 32) {
    view.waitOrder = view.waitOrder.filter((id) => Object.hasOwn(view.interrupts, id));
  }
}

export function closeInterrupt(view: Interrupts, interruptId: string, how: InterruptEnd): void {
  const interrupt = own(view.interrupts, interruptId);
  if (interrupt === undefined) return;
  if (interrupt.suspended) {
    view.waits[waitingStatus(interrupt.kind)] -= 1;
    if (isSignIn(interrupt)) view.signIns -= 1;
  }
  delete view.interrupts[interruptId];
  put(view.resolvedInterrupts, interruptId, how);
  const order = view.waitOrder;
  while (order[0] !== undefined && !Object.hasOwn(view.interrupts, order[0])) order.shift();
}

/** The deciding vote arrives after the gate closed, and is not counted again. */
export function recordVote(view: Interrupts, interruptId: string, received: PayloadOf<'approval.received'>): void {
  const interrupt = own(view.interrupts, interruptId);
  if (interrupt === undefined || received.decidedBy === undefined) return;
  const { decidedBy: principal, action, feedback } = received;
  interrupt.votes.push({ principal, action, ...(feedback === undefined ? {} : { feedback }) });
}

/** A turn was added to a conversation: the interrupt now asks for the next turn. */
export function recordTurn(view: Interrupts, interruptId: string, taken: PayloadOf<'conversation.exchanged'>): void {
  const interrupt = own(view.interrupts, interruptId);
  if (interrupt === undefined || interrupt.data.conversationId !== taken.conversationId) return;
  const { role, content } = taken.turn ?? {};
  // A person's message is not a prompt for the next speaker.
  const prompt = role !== 'user' && typeof content === 'string' && content !== '' ? { prompt: content } : {};
  const data = { ...interrupt.data, ...prompt, turnIndex: taken.turnIndex + 1 };
  put(view.interrupts, interruptId, { ...interrupt, data });
}

/** The run ended: its open interrupts are cancelled. */
export function closeAll(view: Interrupts): void {
  for (const interruptId of Object.keys(view.interrupts)) closeInterrupt(view, interruptId, 'cancelled');
}
