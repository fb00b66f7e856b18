/**
 * The conversation of a context: a fold of its rows. Each invocation reads it up to its own cut, filtered by its group.
 */
import { type EventType, isJsonObject, type Json, type JsonObject, type PayloadOf } from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import type { ContextFold, Said } from './context-fold.ts';
import { PEER_PROVIDER } from './peer-model.ts';
import { resultText, taskText } from './task-text.ts';
import { newest } from './tokens.ts';
import type { AgentGroup, ModelMessage, Turn } from './turn.ts';
import { asUntrusted, asUntrustedAgent } from './untrusted.ts';

/** Maximum number of recent characters in a conversation; no model reads more. */
const HEARD_CHARACTERS = 2_000_000;
/**
 * Maximum number of characters kept per context. Beyond it, the fold drops the oldest down to `HELD_AFTERWARDS`, which
 * still serves older invocations.
 */
const MAX_HELD = 4_000_000;
const HELD_AFTERWARDS = 3_000_000;
/** The fixed cost of an utterance or a run, in characters, so that many tiny ones are bounded, too. */
const ENTRY = 200;
/** The fixed cost of a context: its maps take 2 kB before anything is said, measured over 6,000 contexts. */
const CONTEXT = 2_000;
/** Maximum number of characters of a tool's arguments or result in a conversation. */
const MAX_TOOL_TEXT = 2000;

export function foldRow(fold: ContextFold, stored: Row): void {
  fold.cursor = stored.cursor;
  const { type } = stored;
  if (!isTaken(type)) return;
  const row = { ...stored, runId: fold.names.get(stored.runId)?.name ?? stored.runId };
  const text = taken(fold, row, type);
  if (text === null || text.text === '') return;
  fold.said.push({ cursor: row.cursor, offset: fold.characters, runId: row.runId, ...text });
  fold.characters += text.text.length + ENTRY;
  if (text.by === 'user') noteAsked(fold, row.runId, text.text);
  forgetOldest(fold);
}

/** The approximate number of characters that a fold holds. */
export const weightOf = ({ characters, forgotten, names, roots, retried, peers, speakers }: ContextFold): number =>
  characters - forgotten + CONTEXT + ENTRY * (names.size + roots.size + retried.size + peers.size + speakers.size);

type Taken = Pick<Said, 'by' | 'text'> | null;

type Taker<Type extends EventType> = (fold: ContextFold, row: Row, payload: PayloadOf<Type>) => Taken;

const takers: { readonly [Type in EventType]?: Taker<Type> } = {
  'run.started': (fold, row, payload) => {
    const { parentRunId, inputs, retryOf } = payload;
    if (typeof retryOf === 'string') fold.retried.set(nameOf(fold, retryOf), row.cursor);
    if (typeof parentRunId === 'string') {
      fold.roots.set(row.runId, rootOf(fold, parentRunId));
      return null;
    }
    return { by: 'user', text: isJsonObject(inputs) ? taskText(inputs) : '' };
  },
  'run.completed': (fold, row, { outputs }) => {
    const peer = fold.peers.get(row.runId);
    fold.peers.delete(row.runId);
    // A child run's result goes to its parent, which reports it.
    if (fold.roots.has(row.runId)) return null;
    const text = isJsonObject(outputs) ? resultText(outputs) : '';
    return { by: 'host', text: peer === undefined || text === '' ? text : asUntrustedAgent(peer, text) };
  },
  'agent.invocation.started': (fold, row, { agentId, group, task, resolvedProvider }) => {
    if (resolvedProvider === PEER_PROVIDER) fold.peers.set(row.runId, agentId);
    const speaker = { agentId, room: roomOf(fold, row.runId, group) };
    fold.speakers.set(placeOf(row), speaker);
    const { room } = speaker;
    if (room === null || typeof task !== 'string' || isAsked(fold, row, task)) return null;
    return { by: { taskOf: speaker.agentId, room }, text: task };
  },
  'agent.invocation.completed': (fold, row) => {
    fold.speakers.delete(placeOf(row));
    return null;
  },
  'cairn.model.returned': (fold, row, { turn }) =>
    isJsonObject(turn) ? spoken(fold, row, saidIn(fold, row, turn)) : null,
  'agent.toolReturned': (fold, row, payload) => spoken(fold, row, returnedText(payload)),
  'conversation.opened': (fold, row, { initialTurn }) => turnTaken(fold, row, initialTurn),
  'conversation.exchanged': (fold, row, { turn }) => turnTaken(fold, row, turn),
  // Skips a final turn that is already folded as the answer, and system notices of the close.
  'conversation.closed': (fold, row, { finalTurn, reason }) =>
    reason === 'answered' || (isJsonObject(finalTurn) && finalTurn.role === 'system')
      ? null
      : turnTaken(fold, row, finalTurn),
};

const isTaken = (type: string): type is EventType => Object.hasOwn(takers, type);

function taken<Type extends EventType>(fold: ContextFold, row: Row, type: Type): Taken {
  const take: Taker<Type> | undefined = takers[type];
  return take?.(fold, row, JSON.parse(row.payload)) ?? null;
}

/** A conversation turn goes to agents that share the run, or to its group when it names one. */
function turnTaken(fold: ContextFold, { runId }: Row, turn: Json | undefined): Taken {
  if (!isJsonObject(turn)) return null;
  const { role, from, speakerId, groupId, content = '' } = turn;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  if (role === 'user' && groupId === undefined) return { by: 'user', text };
  const room = roomOf(fold, runId, groupId === undefined ? 'shared' : `shared:${String(groupId)}`) as string;
  return { by: { agentId: String(speakerId ?? from), room }, text };
}

/** Whether the task only repeats what the run was asked. */
const isAsked = ({ asked }: ContextFold, { runId }: Row, task: string): boolean => asked.get(runId)?.has(task) === true;

const noteAsked = ({ asked }: ContextFold, runId: string, text: string): unknown =>
  asked.get(runId)?.add(text) ?? asked.set(runId, new Set([text]));

function spoken(fold: ContextFold, row: Row, text: string): Taken {
  const speaker = fold.speakers.get(placeOf(row));
  if (speaker === undefined || speaker.room === null) return null;
  return { by: { agentId: speaker.agentId, room: speaker.room }, text };
}

const placeOf = ({ runId, nodeId }: Row): string => `${runId}/${nodeId ?? ''}`;

const nameOf = ({ names }: ContextFold, runId: string): string => names.get(runId)?.name ?? runId;

function rootOf(fold: ContextFold, runId: string): string {
  const name = nameOf(fold, runId);
  return fold.roots.get(name) ?? name;
}

/** Agents that share a conversation are in one room: that of their run tree or of their group. */
function roomOf(fold: ContextFold, runId: string, group: Json | undefined): string | null {
  if (group === 'shared') return `run ${rootOf(fold, runId)}`;
  return typeof group === 'string' && group.startsWith('shared:') ? `group ${group.slice('shared:'.length)}` : null;
}

/** Text of a peer stays untrusted even when its local agent repeats it. */
function saidIn(fold: ContextFold, row: Row, turn: JsonObject): string {
  const text = turnText(turn);
  const speaker = fold.speakers.get(placeOf(row));
  const isPeer = turn.provider === PEER_PROVIDER && turn.text !== '' && speaker !== undefined;
  return isPeer ? asUntrustedAgent(speaker.agentId, text) : text;
}

function turnText(turn: JsonObject): string {
  const { text, toolCalls } = turn as Partial<Turn>;
  const calls = (toolCalls ?? []).map(({ name, input }) => `(called ${name} with ${brief(input)})`);
  return [text, ...calls].filter((line) => typeof line === 'string' && line !== '').join('\n');
}

/** Marks untrusted output for other agents just as for the agent that called the tool. */
function returnedText({ toolName: name, outcome, error, contentTrust }: PayloadOf<'agent.toolReturned'>): string {
  const text = brief(error ?? outcome ?? null);
  const told = contentTrust === 'untrusted' ? asUntrusted(name, text) : text;
  return error === undefined ? `(${name} returned ${told})` : `(${name} failed: ${told})`;
}

function brief(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > MAX_TOOL_TEXT ? `${text.slice(0, MAX_TOOL_TEXT).toWellFormed()}…` : text;
}

function forgetOldest(fold: ContextFold): void {
  if (fold.characters - fold.forgotten <= MAX_HELD) return;
  const first = fold.said.findIndex(({ offset }) => fold.characters - offset <= HELD_AFTERWARDS);
  // Always keeps the last utterance, however long it is.
  fold.said = fold.said.slice(first === -1 ? -1 : first);
  fold.forgotten = (fold.said[0] as Said).offset;
  fold.asked.clear();
  for (const { by, runId, text } of fold.said) if (by === 'user') noteAsked(fold, runId, text);
}

/** Number of characters before the cut. */
const saidBefore = ({ said, characters }: ContextFold, cutCursor: number): number =>
  said.find(({ cursor }) => cursor >= cutCursor)?.offset ?? characters;

/** Whether the fold still holds the whole conversation before the cut. It may have advanced past the cut. */
export const reaches = (fold: ContextFold, cutCursor: number): boolean =>
  fold.forgotten === 0 || fold.forgotten <= saidBefore(fold, cutCursor) - HEARD_CHARACTERS;

/** The agent that requests a conversation, and its cut. */
export interface Listener {
  readonly agentId: string;
  readonly runId: string;
  readonly group: AgentGroup;
  /** The conversation ends before this cursor. */
  readonly cutCursor: number;
  /** The first message of the invocation itself; the conversation does not repeat it. */
  readonly task: string;
  readonly maxTokens: number;
}

/**
 * The messages before an invocation, oldest first. Drops the oldest to fit. The result does not depend on how far the
 * fold has advanced, provided it still reaches the cut.
 */
export function conversationFor(fold: ContextFold, listener: Listener): readonly ModelMessage[] {
  const { cutCursor } = listener;
  if (listener.group === 'isolated') return [];
  const room = roomOf(fold, listener.runId, listener.group);
  const tree = rootOf(fold, listener.runId);
  const oldest = saidBefore(fold, cutCursor) - HEARD_CHARACTERS;
  const isBefore = ({ cursor, offset }: Said) => cursor < cutCursor && offset >= oldest;
  const isRetried = ({ runId }: Said) => (fold.retried.get(rootOf(fold, runId)) ?? cutCursor) < cutCursor;
  const heard = fold.said.filter((said) => isBefore(said) && !isRetried(said) && isHeard(said, tree, room));
  const once = heard.filter((said, i) => !isRepeated(fold, said, heard[i - 1]));
  const messages = joined(once.map((said) => ({ said, message: messageOf(said, listener.agentId) })));
  const last = messages.at(-1);
  if (last?.role === 'user' && last.text === listener.task) messages.pop();
  return openedByUser(newest(messages, listener.maxTokens), listener.agentId);
}

function isHeard({ by, runId }: Said, tree: string, room: string | null): boolean {
  // An isolated agent gets its own run's input, or the root run's, only as its task, if at all.
  if (by === 'user') return room !== null || runId !== tree;
  return by === 'host' || by.room === room;
}

/** Whether a run's result repeats the last utterance of one of its agents, as heard by this listener. */
const isRepeated = (fold: ContextFold, { by, text, runId }: Said, before: Said | undefined): boolean =>
  by === 'host' &&
  typeof before?.by === 'object' &&
  'agentId' in before.by &&
  before.text === text &&
  rootOf(fold, before.runId) === runId;

/** An agent's own utterances become assistant messages; those of other agents carry their id. */
function messageOf({ by, text }: Said, agentId: string): ModelMessage {
  if (by === 'user') return { role: 'user', text };
  if (by !== 'host' && 'taskOf' in by) return { role: 'user', text: `Task of ${by.taskOf}: ${text}` };
  if (by === 'host' || by.agentId === agentId) return { role: 'assistant', text, toolCalls: [] };
  return { role: 'user', text: `${by.agentId}: ${text}` };
}

/** Joins consecutive utterances of one agent into one message. */
function joined(spoken: readonly { readonly said: Said; readonly message: ModelMessage }[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let before: Said | null = null;
  for (const { said, message } of spoken) {
    const last = messages.at(-1);
    if (before !== null && isSameAgent(before, said) && last !== undefined && last.role !== 'tool') {
      messages[messages.length - 1] = { ...last, text: `${last.text}\n${said.text}` };
    } else messages.push(message);
    before = said;
  }
  return messages;
}

const isSameAgent = (a: Said, b: Said): boolean => {
  const [first, second] = [speakerOf(a), speakerOf(b)];
  return first !== null && first === second && a.runId === b.runId;
};

const speakerOf = ({ by }: Said): string | null => (typeof by === 'object' && 'agentId' in by ? by.agentId : null);

/** Providers expect the first message from the user, so an agent's own message becomes a user message with its name. */
function openedByUser(messages: readonly ModelMessage[], agentId: string): readonly ModelMessage[] {
  const [first, ...rest] = messages;
  return first?.role === 'assistant' ? [{ role: 'user', text: `${agentId}: ${first.text}` }, ...rest] : messages;
}
