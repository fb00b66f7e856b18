/** The words that completion offers for an argument: runs, workflows, agents, tools and node types of the host, and error codes. */
import { type Client, createClient } from '@cairn/client';
import { isCairnError } from '@cairn/protocol';
import { errorCodes } from './error-page.ts';
import { exit } from './exit.ts';
import { findHost } from './find-host.ts';
import type { Terminal } from './terminal.ts';

/** A person waits for the words, so a slow host has none. */
const TIMEOUT_MS = 2_000;
const MAX_WORDS = 100;

/** Only these reach the shell, which expands words: a host must not be able to run a command by a name. */
const WELL_FORMED = /^[A-Za-z0-9][\w.:-]{0,127}$/;

const runs = async (client: Client) =>
  (await client.runs.list({ limit: MAX_WORDS })).runs.map(({ runId }) => runId).concat('last');
const workflows = async (client: Client) =>
  (await client.workflows.list()).workflows.map(({ workflowId }) => workflowId);
const agents = async (client: Client) => (await client.agents.list()).map(({ agentId }) => agentId);
const nodeTypes = async (client: Client) => (await client.workflows.nodeTypes()).map(({ typeId }) => typeId);
const tools = async (client: Client) => (await client.tools.list()).map(({ toolId }) => toolId);

/** By the names that verbs give their arguments. */
const sources: Readonly<Record<string, (client: Client) => Promise<readonly string[]>>> = {
  run: runs,
  runs,
  entry: runs,
  workflow: workflows,
  agent: agents,
  tool: tools,
  type: nodeTypes,
};

/** Prints the words of kinds such as `workflow|agent`, one per line; none if there is no host. */
export async function printWords(terminal: Terminal, kinds: string): Promise<number> {
  for (const kind of kinds.split('|')) {
    const found = (await wordsOf(terminal, kind)).filter((word) => WELL_FORMED.test(word));
    for (const word of found.slice(0, MAX_WORDS + 1)) terminal.print(word);
  }
  return exit.ok;
}

async function wordsOf(terminal: Terminal, kind: string): Promise<readonly string[]> {
  if (kind === 'code') return errorCodes;
  const source = Object.hasOwn(sources, kind) ? sources[kind] : undefined;
  if (source === undefined) return [];
  try {
    const { url, key } = findHost(terminal, {});
    return await source(createClient({ url, key, timeoutMs: TIMEOUT_MS, retries: 0 }));
  } catch (error) {
    if (isCairnError(error)) return [];
    throw error;
  }
}
