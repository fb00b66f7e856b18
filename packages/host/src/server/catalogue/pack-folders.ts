/** Installs the packs from the configured folders for all tenants, before the host serves. */
import { join } from 'node:path';
import { isCairnError, TerminalError, thrownText } from '@cairn/protocol';
import { packFoldersIn, readPackFolder } from '../../agents/packs/folder.ts';
import { readManifest } from '../../agents/packs/manifest.ts';
import type { PackFiles } from '../../agents/packs/pack-files.ts';
import { dependencyCycle } from '../../agents/packs/requirements.ts';
import type { PromptTemplate } from '../../agents/prompts/prompt-template.ts';
import type { AgentRegistry } from '../../agents/registry.ts';
import type { FoundWorkflow } from './workflow-folders.ts';

interface PackFolders {
  readonly folders: readonly string[];
  /** Folders whose packs need no signature. */
  readonly unsigned: readonly string[];
}

interface FoundPack {
  readonly folder: string;
  readonly files: PackFiles;
  readonly name: string;
  readonly needs: readonly string[];
  readonly mayBeUnsigned: boolean;
}

/** What a host has besides agents. */
interface Beside {
  readonly workflows: readonly FoundWorkflow[];
  readonly prompts: readonly PromptTemplate[];
}

/**
 * A refused pack stops the host from starting, so that the host has everything its configuration names. Returns the
 * workflows and the prompt templates of the packs. None may have the id of one in `others`.
 */
export async function installPackFolders(
  registry: AgentRegistry,
  { folders, unsigned }: PackFolders,
  others: Beside,
): Promise<Beside> {
  const found: FoundPack[] = [];
  for (const [list, mayBeUnsigned] of [[folders, false] as const, [unsigned, true] as const]) {
    for (const folder of list) {
      for (const pack of await packsIn(folder)) {
        found.push({ ...(await naming(pack, () => read(pack))), mayBeUnsigned });
      }
    }
  }
  const workflows: FoundWorkflow[] = [];
  const prompts: PromptTemplate[] = [];
  for (const { folder, files, mayBeUnsigned } of inOrder(found)) {
    const brought = await naming(folder, () => registry.installForHost(files, { mayBeUnsigned }));
    for (const { path, definition } of brought.workflows) {
      const workflow = { source: join(folder, path), definition };
      refuseTaken(workflow, [...others.workflows, ...workflows]);
      workflows.push(workflow);
    }
    for (const { path, template } of brought.templates) {
      refuseTakenTemplate(join(folder, path), template, [...others.prompts, ...prompts]);
    }
    // One pack may have several versions of a template.
    prompts.push(...brought.templates.map(({ template }) => template));
  }
  return { workflows, prompts };
}

/** A workflow id must be unambiguous: a pack may not redefine a workflow from another source. */
function refuseTaken({ source, definition }: FoundWorkflow, others: readonly FoundWorkflow[]): void {
  const twin = others.find((other) => other.definition.id === definition.id);
  if (twin === undefined) return;
  throw new TerminalError('conflict', {
    message: `${source}: there is a workflow ${definition.id} already, from ${twin.source}.`,
    hint: 'Give one of the two another id.',
    details: { workflowId: definition.id },
  });
}

/** A newer version would take the place of a template from another source. */
function refuseTakenTemplate(source: string, { templateId }: PromptTemplate, others: readonly PromptTemplate[]): void {
  if (!others.some((other) => other.templateId === templateId)) return;
  throw new TerminalError('conflict', {
    message: `${source}: there is a prompt template ${templateId} already, from another pack or from the code of this host.`,
    hint: 'Give one of the two another id.',
    details: { templateId },
  });
}

async function packsIn(folder: string): Promise<readonly string[]> {
  try {
    return await packFoldersIn(folder);
  } catch (cause) {
    throw unreadable(folder, cause);
  }
}

const unreadable = (folder: string, cause: unknown): TerminalError =>
  new TerminalError('config_invalid', {
    message: `The pack folder ${folder} cannot be read: ${thrownText(cause)}.`,
    hint: 'Check "packs" in the configuration.',
    cause,
  });

async function read(folder: string): Promise<Omit<FoundPack, 'mayBeUnsigned'>> {
  const files = await readPackFolder(folder);
  const { name, dependencies = {} } = readManifest(files);
  return { folder, files, name, needs: Object.keys(dependencies) };
}

/** Orders packs after their dependencies. The check of each pack reports missing dependencies. */
function inOrder(found: readonly FoundPack[]): readonly FoundPack[] {
  const ordered = new Set<FoundPack>();
  const visit = (pack: FoundPack, above: readonly string[]): void => {
    if (ordered.has(pack)) return;
    const place = above.indexOf(pack.name);
    if (place >= 0) throw dependencyCycle([...above.slice(place), pack.name]);
    for (const other of found) if (pack.needs.includes(other.name)) visit(other, [...above, pack.name]);
    ordered.add(pack);
  };
  for (const pack of found) visit(pack, []);
  return [...ordered];
}

async function naming<Value>(folder: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (cause) {
    if (!isCairnError(cause)) throw unreadable(folder, cause);
    if (cause.retryable) throw cause;
    throw new TerminalError(cause.code, {
      message: `${folder}: ${cause.message}`,
      ...(cause.hint === undefined ? {} : { hint: cause.hint }),
      ...(cause.details === undefined ? {} : { details: cause.details }),
      cause,
    });
  }
}
