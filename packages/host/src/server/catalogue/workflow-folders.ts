/** Registers workflow definitions from folders before the host serves. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AuthoredWorkflow, isCairnError, parseAuthoredWorkflow, TerminalError, thrownText } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';

export interface FoundWorkflow {
  /** The origin of the definition, for errors. */
  readonly source: string;
  readonly definition: AuthoredWorkflow;
}

/** Reads every `*.json` of the folders in name order. Refuses a file that is not a definition, by name. */
export async function readWorkflowFolders(folders: readonly string[]): Promise<readonly FoundWorkflow[]> {
  const found: FoundWorkflow[] = [];
  for (const folder of folders) {
    for (const file of await jsonFiles(folder)) {
      const source = join(folder, file);
      const definition = await naming(source, async () =>
        parseAuthoredWorkflow(JSON.parse(await readFile(source, 'utf8'))),
      );
      found.push({ source, definition });
    }
  }
  return found;
}

export async function registerWorkflows(
  engine: Engine,
  tenants: readonly string[],
  workflows: readonly FoundWorkflow[],
): Promise<void> {
  for (const { source, definition } of workflows) {
    for (const tenant of tenants) await naming(source, () => engine.register(tenant, definition));
  }
}

async function jsonFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
  } catch (cause) {
    throw new TerminalError('config_invalid', {
      message: `The workflow folder ${folder} cannot be read: ${thrownText(cause)}.`,
      hint: 'Check "workflows" in the configuration.',
      cause,
    });
  }
}

async function naming<Value>(source: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (cause) {
    if (isCairnError(cause)) {
      if (cause.retryable) throw cause;
      throw new TerminalError(cause.code, {
        message: `${source}: ${cause.message}`,
        ...(cause.hint === undefined ? {} : { hint: cause.hint }),
        ...(cause.details === undefined ? {} : { details: cause.details }),
        cause,
      });
    }
    throw new TerminalError('config_invalid', { message: `${source}: ${thrownText(cause)}.`, cause });
  }
}
