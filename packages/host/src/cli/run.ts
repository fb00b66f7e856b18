/** `cairn run`: starts a run, follows it to its end, and exits with a code for its result. */
import type { Client, NewRunRequest } from '@cairn/client';
import { isCairnError, type RunSnapshot, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { refuseUnknownInputs } from './declared-inputs.ts';
import { exit, exitOfStatus } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { parsePairs, readJsonFile, typesOf } from './inputs.ts';
import { AgentTranscript } from './render/agent-transcript.ts';
import { usageText } from './render/agent-usage.ts';
import { errorLines } from './render/run-error.ts';
import { lookOf } from './render/status.ts';
import { commandIn, jsonLine, manyLines, safe, styleOf } from './render/style.ts';
import { span } from './render/time.ts';
import type { Terminal } from './terminal.ts';
import { outputOf } from './terminal-output.ts';
import { waitingLines } from './waiting-lines.ts';
import { watchRun } from './watch-run.ts';

export interface RunFlags extends HostFlags {
  readonly input?: readonly string[];
  readonly inputFile?: string;
  readonly tag?: readonly string[];
  /** The conversation that the run continues. */
  readonly context?: string;
  readonly detach?: boolean;
}

export function run(terminal: Terminal, name: string, flags: RunFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const stop = new AbortController();
    const { signal } = stop;
    terminal.onSignal(() => stop.abort());
    let runId: string | null = null;
    try {
      const request = await requestOf(terminal, client, name, flags);
      const creating = client.runs.create(request, { signal });
      const created = await creating.catch((error: unknown) => misspelt(client, name, error));
      runId = created.runId;
      return await followNew(terminal, client, created, { ...flags, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      const interrupted = `\nInterrupted. "${commandIn(terminal.env)} runs" shows whether the run started.`;
      terminal.tell(runId === null ? interrupted : continues(terminal, runId));
      return exit.interrupted;
    }
  });
}

export interface FollowFlags {
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly signal: AbortSignal;
  /** What the run is, for the first line. Default: nothing. */
  readonly note?: string;
}

/** Follows a run that was just created to its end, or only prints its id. */
export async function followNew(
  terminal: Terminal,
  client: Client,
  created: { readonly runId: string },
  { json: isJson = false, detach = false, signal, note }: FollowFlags,
): Promise<number> {
  const { runId } = created;
  if (detach) {
    terminal.print(isJson ? jsonLine(created) : safe(runId));
    return exit.ok;
  }
  const transcript = isJson ? null : new AgentTranscript(outputOf(terminal, 'err'));
  const { dim } = styleOf(terminal.colours.err);
  if (!isJson) terminal.tell(`${dim('run')} ${safe(runId)}${note === undefined ? '' : dim(`  ${note}`)}`);
  return report(terminal, client, await watchRun(terminal, client, runId, { signal, transcript }), transcript);
}

export const continues = ({ env }: Terminal, runId: string): string =>
  `\nRun ${safe(runId)} continues. Follow it with: ${commandIn(env)} tail ${safe(runId)}`;

/** Agent ids always contain a dot or a colon; workflow ids never do. */
const isAgent = (name: string): boolean => /[.:]/.test(name);

async function requestOf(terminal: Terminal, client: Client, name: string, flags: RunFlags): Promise<NewRunRequest> {
  const file = flags.inputFile === undefined ? {} : readJsonFile(terminal, flags.inputFile);
  const pairs = flags.input ?? [];
  const isGiven = pairs.length > 0 || Object.keys(file).length > 0;
  const definition = isAgent(name) || !isGiven ? null : await definitionOf(client, name);
  const inputs = { ...file, ...parsePairs(pairs, typesOf(definition)) };
  if (definition !== null) refuseUnknownInputs(definition, Object.keys(inputs));
  return {
    ...(isAgent(name) ? { agentId: name } : { workflowId: name }),
    inputs,
    ...(flags.tag === undefined ? {} : { tags: flags.tag }),
    ...(flags.context === undefined ? {} : { configurable: { 'cairn.contextId': flags.context } }),
  };
}

/** Suggests the closest known name for an unknown workflow or agent. */
async function misspelt(client: Client, name: string, error: unknown): Promise<never> {
  if (!isCairnError(error, 'not_found') || error.details?.contextId !== undefined) throw error;
  const { agentId } = error.details ?? {};
  const close =
    typeof agentId === 'string' ? nearest(agentId, await agentIds(client)) : nearest(name, await workflowIds(client));
  const others = typeof agentId === 'string' ? (error.hint ?? '') : '"cairn workflows" lists all workflows.';
  const hint = close === null ? others : `Did you mean ${close}?`;
  throw new TerminalError('not_found', { message: error.message, hint, cause: error });
}

const workflowIds = async (client: Client): Promise<readonly string[]> =>
  (await client.workflows.list().catch(() => ({ workflows: [] }))).workflows.map(({ workflowId }) => workflowId);

const agentIds = async (client: Client): Promise<readonly string[]> =>
  (await client.agents.list().catch(() => [])).map(({ agentId }) => agentId);

/** Used only for the types of inputs. If it is missing or hidden, creating the run reports the error. */
async function definitionOf(client: Client, workflowId: string): Promise<WorkflowDefinition | null> {
  try {
    return await client.workflows.get(workflowId);
  } catch (error) {
    if (isCairnError(error, 'forbidden') || isCairnError(error, 'not_found')) return null;
    throw error;
  }
}

async function report(
  terminal: Terminal,
  client: Client,
  run: RunSnapshot,
  transcript: AgentTranscript | null,
): Promise<number> {
  const code = exitOfStatus(run.status);
  if (transcript === null) {
    terminal.print(jsonLine(run));
    return code;
  }
  const style = styleOf(terminal.colours.err, terminal.env);
  const used = usageText(transcript.usage);
  if (used !== '') terminal.tell(`  ${style.dim(used)}`);
  if (code === exit.waiting) {
    for (const line of await waitingLines(client, run, style)) terminal.tell(line);
    return code;
  }
  const { mark, paint } = lookOf(run.status, style);
  const took = tookOf(run);
  terminal.tell(`${mark} ${paint(run.status)}${took === null ? '' : style.dim(` in ${span(took)}`)}`);
  for (const line of errorLines(run, style)) terminal.tell(`  ${line}`);
  if (run.status === 'completed' && run.outputs !== undefined && Object.keys(run.outputs).length > 0) {
    for (const line of manyLines(run.outputs)) terminal.print(line);
  }
  return code;
}

/** A branch starts when its source did, so its times say nothing of how long it took. */
function tookOf({ startedAt, completedAt, fork }: RunSnapshot): number | null {
  if (startedAt === undefined || completedAt === undefined) return null;
  if (fork?.mode === 'branch' && fork.fromSeq > 0) return null;
  return Date.parse(completedAt) - Date.parse(startedAt);
}
