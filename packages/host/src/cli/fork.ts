/** `cairn fork` and `cairn retry`: create a run from another one, and follow it like `cairn run`. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Client } from '@cairn/client';
import {
  type CallRule,
  callUses,
  type ForkRun,
  type Json,
  type JsonObject,
  type RetryRun,
  type RunForked,
} from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { refuseUnknownInputs } from './declared-inputs.ts';
import { errorText } from './error-text.ts';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { parsePairs, typesOf } from './inputs.ts';
import { pastEvents } from './past-events.ts';
import { safe } from './render/style.ts';
import { continues, followNew } from './run.ts';
import { runNamed } from './run-name.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface RetryFlags extends HostFlags {
  readonly set?: readonly string[];
  readonly option?: readonly string[];
  readonly prompt?: readonly string[];
  readonly rule?: readonly string[];
  readonly tag?: readonly string[];
  readonly tree?: boolean;
  readonly detach?: boolean;
}

export interface ForkFlags extends RetryFlags {
  readonly at?: number;
  readonly replay?: boolean;
  readonly answer?: string;
  readonly result?: readonly string[];
}

export const fork = (terminal: Terminal, name: string, flags: ForkFlags): Promise<number> =>
  follow(terminal, name, flags, async (client, runId) =>
    client.runs.fork(runId, await forkOf(terminal, client, runId, flags)),
  );

export const retry = (terminal: Terminal, name: string, flags: RetryFlags): Promise<number> =>
  follow(terminal, name, flags, async (client, runId) =>
    client.runs.retry(runId, await changesOf(terminal, client, runId, flags)),
  );

type Create = (client: Client, runId: string) => Promise<RunForked>;

function follow(terminal: Terminal, name: string, flags: RetryFlags, create: Create): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const stop = new AbortController();
    terminal.onSignal(() => stop.abort());
    const forked = await create(client, await runNamed(client, name));
    const { runId, sourceRunId, fromSeq, mode } = forked;
    try {
      const note = `${mode === 'replay' ? 'replays' : 'branches off'} ${safe(sourceRunId)} at event ${fromSeq}`;
      return await followNew(terminal, client, forked, { ...flags, note, signal: stop.signal });
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      terminal.tell(continues(terminal, runId));
      return exit.interrupted;
    }
  });
}

async function forkOf(terminal: Terminal, client: Client, runId: string, flags: ForkFlags): Promise<ForkRun> {
  const { at = 0, replay = false, answer, result = [] } = flags;
  if (replay) {
    const given = (['set', 'option', 'prompt', 'rule', 'tag', 'tree', 'answer', 'result'] as const).find(
      (option) => flags[option] !== undefined,
    );
    if (given !== undefined)
      throw usageError(`--replay changes nothing, so --${given} has no effect.`, 'Leave one of them out.');
    return { mode: 'replay', fromSeq: at };
  }
  const value = answer === undefined ? null : jsonOf('--answer', answer);
  const [given, ...more] = result.map(resultOf);
  if (more.length > 0) throw usageError('A branch takes one --result.', 'Branch again for the next call.');
  const { runOptionsOverlay, cairn } = await changesOf(terminal, client, runId, flags);
  const overlay = {
    ...cairn?.overlay,
    ...(answer === undefined ? {} : { answer: { ...(await waitingNode(client, runId, at)), value } }),
    ...(given === undefined ? {} : { result: given }),
  };
  return {
    mode: 'branch',
    fromSeq: at,
    ...(runOptionsOverlay === undefined ? {} : { runOptionsOverlay }),
    cairn: { ...cairn, overlay },
  };
}

async function changesOf(terminal: Terminal, client: Client, runId: string, flags: RetryFlags): Promise<RetryRun> {
  const { set = [], option = [], prompt = [], rule = [], tag, tree = false } = flags;
  const inputs = set.length === 0 ? {} : await inputsOf(client, runId, set);
  const configurable = parsePairs(option, () => undefined);
  const prompts = Object.fromEntries(prompt.map((pair) => promptOf(terminal, pair)));
  if (prompt.length > 0) await tellUnknownPrompts(terminal, client, runId, Object.keys(prompts));
  const options = { ...(option.length === 0 ? {} : { configurable }), ...(tag === undefined ? {} : { tags: tag }) };
  return {
    ...(Object.keys(options).length === 0 ? {} : { runOptionsOverlay: options }),
    cairn: {
      ...(rule.length === 0 ? {} : { rules: rule.map(ruleOf) }),
      ...(tree ? { tree } : {}),
      overlay: { ...(set.length === 0 ? {} : { inputs }), ...(prompt.length === 0 ? {} : { prompts }) },
    },
  };
}

async function inputsOf(client: Client, runId: string, pairs: readonly string[]): Promise<JsonObject> {
  const definition = await definitionOf(client, runId);
  const inputs = parsePairs(pairs, typesOf(definition));
  if (definition !== null) refuseUnknownInputs(definition, Object.keys(inputs));
  return inputs;
}

/** A typo would change nothing. It is no error, because a run below may have a node of that name. */
async function tellUnknownPrompts(
  terminal: Terminal,
  client: Client,
  runId: string,
  names: readonly string[],
): Promise<void> {
  const [definition, agents] = await Promise.all([definitionOf(client, runId), client.agents.list().catch(() => null)]);
  if (definition === null || agents === null) return;
  const known = [...agents.map(({ agentId }) => agentId), ...definition.nodes.map(({ id }) => id)];
  for (const name of names.filter((one) => !known.includes(one))) {
    const close = nearest(name, known);
    const hint = close === null ? '"cairn agents" lists all agents.' : `Did you mean ${safe(close)}?`;
    terminal.tell(`! No agent, and no node of ${safe(definition.id)}, is named ${safe(name)}. ${hint}`);
  }
}

/** Used only for names, and for the types of inputs. If it is hidden, a value is JSON if it parses, else text. */
async function definitionOf(client: Client, runId: string) {
  const { workflowId } = await client.runs.get(runId);
  return client.workflows.get(workflowId).catch(() => null);
}

/** Splits at the last `=`, because names of tools and models may contain one. */
function splitPair(pair: string, at: number, form: string): readonly [string, string] {
  if (at < 1)
    throw usageError(`${JSON.stringify(pair)} does not have the form ${form}.`, '"cairn fork --help" shows examples.');
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function ruleOf(pair: string): CallRule {
  const [calls, word] = splitPair(pair, pair.lastIndexOf('='), 'calls=use');
  const use = callUses.find((known) => known === word);
  if (use === undefined)
    throw usageError(`${JSON.stringify(word)} is none of ${callUses.join(', ')}.`, "Use for example 'tool:*=reuse'.");
  return { calls, use };
}

function promptOf(terminal: Terminal, pair: string): readonly [string, string] {
  const [agent, text] = splitPair(pair, pair.indexOf('='), 'agent=text');
  if (!text.startsWith('@')) return [agent, text];
  const file = text.slice(1);
  try {
    return [agent, readFileSync(resolve(terminal.cwd, file), 'utf8')];
  } catch (cause) {
    throw usageError(`${file} cannot be read: ${errorText(cause)}.`, 'Check the path.');
  }
}

function resultOf(pair: string): { readonly callId: string; readonly value: Json } {
  const [callId, text] = splitPair(pair, pair.indexOf('='), 'call=json');
  return { callId, value: jsonOf('--result', text) };
}

function jsonOf(option: string, text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usageError(`${option} is not JSON: ${errorText(cause)}.`, `Quote it for the shell: ${option} '{"a":1}'.`);
  }
}

/** The node whose question is open at an event. */
async function waitingNode(
  client: Client,
  runId: string,
  at: number,
): Promise<JsonObject & { readonly nodeId: string }> {
  const open = new Map<string, string>();
  for await (const { type, sequence, payload, nodeId } of pastEvents(client, await client.runs.get(runId))) {
    if (sequence >= at) break;
    const { interruptId } = (payload ?? {}) as { readonly interruptId?: string };
    if (interruptId === undefined) continue;
    if (type === 'interrupt.requested') open.set(interruptId, nodeId ?? '');
    if (type === 'interrupt.resolved') open.delete(interruptId);
  }
  const [first, ...others] = open.values();
  if (first !== undefined && others.length === 0) return { nodeId: first };
  throw usageError(
    first === undefined ? `No question is open at event ${at}.` : `Several questions are open at event ${at}.`,
    'Use --at with the event that answers the question; "cairn tail" lists them.',
  );
}
