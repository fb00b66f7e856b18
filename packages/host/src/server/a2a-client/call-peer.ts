/**
 * One call of a peer: sends the message, follows the task, and lifts what it asks to people here. Each message has an id
 * that is recorded before it is sent, and each task an id that is recorded as soon as it is known, so that a host that
 * was stopped goes on with the task and sends nothing twice.
 */
import { type CairnError, type Json, quoted, TerminalError } from '@cairn/protocol';
import { RemoteResult } from '../../agents/tools/remote-result.ts';
import type { HostToolContext } from '../../agents/tools/tool.ts';
import type { Sha256 } from '../../engine/ports.ts';
import type { CallOrigin } from '../peers/call-origin.ts';
import { passQuestionOn } from '../peers/passed-question.ts';
import { messageMetadata } from './message-metadata.ts';
import { peerError } from './peer-error.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { OutboundMessage, PeerTask } from './peer-task.ts';
import { choicesFor, contentOf, GIVE_UP, promptFor, questionIn, type RemoteQuestion } from './remote-question.ts';
import { RemoteTask, textOf } from './remote-task.ts';
import type { RemotePart } from './remote-update.ts';
import { sentOnce } from './sent-once.ts';

export type PeerInput = {
  readonly message: string;
  readonly skill?: string;
  /** Goes on with the conversation that earlier calls of this context had with the peer. */
  readonly conversation?: boolean;
};

export interface CallPorts extends CallOrigin {
  readonly settings: PeerSettings;
  readonly sha256: Sha256;
  /** Opens an exchange with the peer, once it has room for the call. */
  readonly open: (context: HostToolContext, changed: (task: RemoteTask) => void) => Promise<OpenPeer>;
}

/** A peer that this call may use until it is closed. */
export interface OpenPeer {
  readonly task: PeerTask;
  readonly skills: readonly string[];
  /** The peer may be elsewhere by now, or speak another version. */
  failed(): void;
  close(): void;
}

/** Questions of one call. */
const MAX_ROUNDS = 20;

/** What is sent in a round: the first message, an answer, or nothing. */
type Outgoing = Pick<OutboundMessage, 'text' | 'data'> | null;

interface Round {
  readonly round: number;
  readonly outgoing: Outgoing;
  /** The task that the message is for, and the question that it answers. */
  readonly of: { readonly taskId: string; readonly mark: string } | null;
}

type Settled =
  | { readonly end: RemoteResult }
  /** The record is that of the run that this one was forked from, and goes no further. */
  | { readonly isOfSource: true }
  | { readonly isOfSource: boolean; readonly taskId: string; readonly question: RemoteQuestion };

export async function callPeer(ports: CallPorts, input: PeerInput, context: HostToolContext): Promise<RemoteResult> {
  const { name } = ports.settings;
  const first: Omit<Round, 'round'> = { outgoing: { text: input.message, data: undefined }, of: null };
  let next: Round = { round: 0, ...first };
  while (next.round < MAX_ROUNDS) {
    const settled = await performed(ports, { input, context, ...next });
    if ('end' in settled) return settled.end;
    const again = { round: next.round + 1, ...first };
    if (!('question' in settled)) {
      next = again;
      continue;
    }
    const { taskId, question, isOfSource } = settled;
    const said = await passQuestionOn(context, {
      name: `question ${next.round}`,
      prompt: promptFor(name, question),
      ...shapeOf(question),
      requireUser: question.requireUser,
      remote: {
        peer: name,
        taskId,
        ...(question.inputId === null ? {} : { inputId: question.inputId }),
        ...question.run,
      },
      subkind: question.kind === 'auth' ? 'auth' : question.isApproval ? 'approval' : undefined,
    });
    const isAuth = question.kind === 'auth';
    if (isAuth && ('refused' in said || said.answer === GIVE_UP)) throw notSignedIn(name);
    const outgoing = isAuth ? null : contentOf(question, said);
    const of = { taskId, mark: isAuth ? '' : question.mark };
    // The task belongs to the run that asked first: a fork neither answers nor ends it, and has one of its own.
    next = isOfSource ? again : { round: next.round + 1, outgoing, of };
  }
  throw new TerminalError('external_call_failed', {
    message: `The peer ${name} asked ${MAX_ROUNDS} questions in one call.`,
    hint: 'The peer may never be content; ask its operator.',
  });
}

function shapeOf(question: RemoteQuestion) {
  const options = choicesFor(question);
  if (options !== undefined) return { options };
  return question.schema === null ? {} : { schema: question.schema };
}

interface Performing extends Round {
  readonly input: PeerInput;
  readonly context: HostToolContext;
}

/** One round: a message is sent, and its task followed until it ends or asks. Recorded parts are not done again. */
async function performed(ports: CallPorts, at: Performing): Promise<Settled> {
  const { context, round, of } = at;
  const live = new LiveCall(ports, context);
  let seen: RemoteTask | undefined;
  try {
    const wasPlanned = context.isReplayed;
    const message = await context.step(`message ${round}`, () => planned(ports, at));
    const isOfSource = message.runId !== context.runId;
    if (isOfSource && !context.isReplayed) return { isOfSource };
    const task = new RemoteTask(ports.settings, of?.taskId ?? null, of?.mark ?? null);
    seen = task;
    const begun = await context.step(`task ${round}`, () => begin(ports, { ...at, message, task, live, wasPlanned }));
    if (begun.taskId === null) return { end: new RemoteResult({ value: begun.said ?? '' }, task.remote) };
    const followed = task.taskId === null ? new RemoteTask(ports.settings, begun.taskId, of?.mark ?? null) : task;
    seen = followed;
    if (isOfSource && !context.isReplayed) return { isOfSource };
    // What an earlier entry saw is recorded: the question that ended it.
    if (!context.isReplayed) await (await live.open()).task.follow(followed);
    if (!context.isReplayed && !isAsking(followed)) return { end: ended(ports.settings.name, followed) };
    const question = await context.step(`input ${round}`, () => questionIn(followed));
    return { isOfSource, taskId: begun.taskId, question };
  } catch (error) {
    live.failed();
    const told = peerError(ports.settings.name, error);
    if (seen?.remote === undefined || context.signal.aborted) throw told;
    return { end: new RemoteResult({ error: told }, seen.remote) };
  } finally {
    live.close();
  }
}

interface Beginning extends Performing {
  readonly message: PlannedMessage;
  readonly task: RemoteTask;
  readonly live: LiveCall;
  /** An earlier entry may have sent the message. */
  readonly wasPlanned: boolean;
}

/** What is recorded once the peer has the message: its task, or an answer without a task. */
type Begun = { readonly taskId: string | null; readonly said?: string };

async function begin(ports: CallPorts, at: Beginning): Promise<Begun> {
  const { settings } = ports;
  const { outgoing, of, input, task, live, wasPlanned } = at;
  if (outgoing === null) return { taskId: task.taskId };
  try {
    const { task: peer, skills } = await live.open();
    refuseUnknownSkill(settings.name, input.skill, skills);
    const metadata = await messageMetadata(ports, at.context, ports.isKnownHost(settings.url));
    const message = { ...at.message, ...outgoing, taskId: of?.taskId ?? null, metadata };
    const isOnly = input.conversation !== true;
    await sentOnce(peer, { message, task, mayBeSent: wasPlanned, isOnly }, settings);
  } catch (error) {
    throw peerError(settings.name, error);
  }
  const { taskId } = task;
  return taskId === null ? { taskId, said: textOf(task.parts).slice(0, MAX_SAID) } : { taskId };
}

/** Characters of an answer without a task. It is recorded with the call. */
const MAX_SAID = 100_000;

const isAsking = ({ status: { state } }: RemoteTask): boolean =>
  state === 'input-required' || state === 'auth-required';

type PlannedMessage = {
  readonly messageId: string;
  readonly contextId: string;
  /** The run that sends it. A fork finds it in the record that it shares, which may come from elsewhere. */
  readonly runId: string;
};

/** The ids are the same in every entry into the call. */
function planned({ sha256, settings, hostId }: CallPorts, { context, input, round }: Performing): PlannedMessage {
  const { runId, tenant, contextId, agentId, idempotencyKey } = context;
  const scope = input.conversation === true ? [hostId, tenant, contextId, agentId, settings.name] : [idempotencyKey];
  return {
    messageId: `cairn-${sha256(`${idempotencyKey} ${round}`, 'hex').slice(0, 32)}`,
    contextId: `cairn-${sha256(JSON.stringify(scope), 'hex').slice(0, 32)}`,
    runId,
  };
}

function refuseUnknownSkill(peer: string, skill: string | undefined, skills: readonly string[]): void {
  if (skill === undefined || skills.length === 0 || skills.includes(skill)) return;
  throw new TerminalError('external_call_failed', {
    message: `The card of the peer ${peer} has no skill ${quoted(skill, 80)}.`,
    hint: 'Read its card for the skills that it has.',
  });
}

/** The exchange of a round. It is opened when it is needed: an entry that only repeats what is recorded needs none. */
class LiveCall {
  readonly #ports: CallPorts;
  readonly #context: HostToolContext;
  #open: OpenPeer | null = null;

  constructor(ports: CallPorts, context: HostToolContext) {
    this.#ports = ports;
    this.#context = context;
  }

  async open(): Promise<OpenPeer> {
    this.#open ??= await this.#ports.open(this.#context, ({ words }) =>
      this.#context.progress(Number.NaN, words, { indeterminate: true }),
    );
    return this.#open;
  }

  failed(): void {
    this.#open?.failed();
  }

  close(): void {
    this.#open?.close();
  }
}

const notSignedIn = (peer: string): TerminalError =>
  new TerminalError('auth_denied', { message: `Nobody signed in to the peer ${peer}.` });

function ended(peer: string, task: RemoteTask): RemoteResult {
  const { state } = task.status;
  const { remote } = task;
  if (state === 'failed' || state === 'canceled' || state === 'rejected') {
    return new RemoteResult({ error: endError(peer, task) }, remote);
  }
  return new RemoteResult({ value: resultIn(task.parts) }, remote);
}

const endCodes = {
  failed: 'remote_task_failed',
  canceled: 'remote_task_canceled',
  rejected: 'rejected_by_remote',
} as const;

function endError(peer: string, { status: { state, parts } }: RemoteTask): CairnError {
  const words = textOf(parts);
  const said = words === '' ? '' : `: ${quoted(words, 500)}`;
  const what = state === 'failed' ? 'failed' : state === 'canceled' ? 'was canceled there' : 'was rejected';
  const code =
    state === 'failed' || state === 'canceled' || state === 'rejected' ? endCodes[state] : 'remote_task_failed';
  return new TerminalError(code, { message: `The task of the peer ${peer} ${what}${said}.` });
}

/** Text alone is the text; with anything else, the parts beside it. */
function resultIn(parts: readonly RemotePart[]): Json {
  const others = parts.filter((part) => !('text' in part));
  const text = textOf(parts);
  return others.length === 0 ? text : { text, parts: others };
}
