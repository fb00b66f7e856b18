/** Registers workflow definitions from folders before the host serves. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AuthoredWorkflow, isCairnError, parseAuthoredWorkflow, TerminalError, thrownText } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import { nearest } from '../../nearest.ts';

export interface FoundWorkflow {
  /** The origin of the definition, for errors. */
  readonly source: string;
  readonly definition: AuthoredWorkflow;
}

const FILE_HINT =
  'Correct the file and start the host again. Each node needs id, name, typeId, position, config and inputs.';

/** Reads every `*.json` of the folders in name order. Refuses a file that is not a definition, by name. */
export async function readWorkflowFolders(folders: readonly string[]): Promise<readonly FoundWorkflow[]> {
  const found: FoundWorkflow[] = [];
  for (const folder of folders) {
    for (const file of await jsonFiles(folder)) {
      const source = join(folder, file);
      const definition = await naming(
        source,
        async () => parseAuthoredWorkflow(JSON.parse(await readFile(source, 'utf8'))),
        FILE_HINT,
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
    for (const tenant of tenants) {
      await naming(source, () => engine.register(tenant, definition, { isOfHost: true }));
    }
  }
  for (const tenant of tenants) {
    for (const { source, definition } of workflows) {
      await naming(source, () => refuseUnknownChildren(engine, tenant, { definition, workflows }));
    }
  }
}

/** A child may be registered later, but a name that is nearly one of these is a typo. */
async function refuseUnknownChildren(
  engine: Pick<Engine, 'workflow'>,
  tenant: string,
  { definition, workflows }: { readonly definition: AuthoredWorkflow; readonly workflows: readonly FoundWorkflow[] },
): Promise<void> {
  for (const [index, { id, typeId, config }] of definition.nodes.entries()) {
    const { workflowId } = config;
    if (typeId !== 'core.subWorkflow' || typeof workflowId !== 'string') continue;
    const names = workflows.map((found) => found.definition.id);
    const near = names.includes(workflowId) ? null : nearest(workflowId, names, 1);
    if (near === null || (await isRegistered(engine, tenant, workflowId))) continue;
    throw new TerminalError('validation_error', {
      message: `The workflow ${definition.id} starts an unknown one: nodes[${index}].config.workflowId (node ${id}): there is no workflow ${workflowId}; did you mean ${near}?`,
      hint: 'GET /v1/workflows lists them.',
      details: { workflowId: definition.id },
    });
  }
}

const isRegistered = (engine: Pick<Engine, 'workflow'>, tenant: string, workflowId: string): Promise<boolean> =>
  engine.workflow(tenant, workflowId).then(
    () => true,
    () => false,
  );

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

/** The error of `act` with the file it is about. `hint` replaces one that is for callers over HTTP. */
async function naming<Value>(source: string, act: () => Promise<Value>, hint?: string): Promise<Value> {
  try {
    return await act();
  } catch (cause) {
    if (isCairnError(cause)) {
      if (cause.retryable) throw cause;
      const shownHint = hint ?? cause.hint;
      throw new TerminalError(cause.code, {
        message: `${source}: ${cause.message}`,
        ...(shownHint === undefined ? {} : { hint: shownHint }),
        ...(cause.details === undefined ? {} : { details: cause.details }),
        cause,
      });
    }
    throw new TerminalError('config_invalid', { message: `${source}: ${thrownText(cause)}.`, cause });
  }
}
