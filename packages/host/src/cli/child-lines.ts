/** Formats the runs below a run as a tree, with their open questions. */
import type { Client } from '@cairn/client';
import { isCairnError, type RunSnapshot } from '@cairn/protocol';
import { lookOf } from './render/status.ts';
import { type Style, safe } from './render/style.ts';
import { entryLines, questionsBelow } from './waiting-lines.ts';

export interface ChildLineOptions {
  readonly style: Style;
  /** False for an earlier state of the run: then only its own children are known, and questions are left out. */
  readonly isNow: boolean;
}

/** Runs that are read for their own children, so that a large tree costs a bounded number of requests. */
const MAX_READ = 50;

type ChildRun = NonNullable<RunSnapshot['childRuns']>[number];

export async function childLines(
  client: Client,
  run: RunSnapshot,
  { style, isNow }: ChildLineOptions,
): Promise<readonly string[]> {
  const { childRuns = [] } = run;
  if (childRuns.length === 0) return [];
  const tree = new ChildTree(client, style, isNow ? MAX_READ : 0);
  const lines = ['', style.dim('child runs'), ...(await tree.lines(childRuns, ''))];
  if (!isNow || run.importedAt !== undefined) return lines;
  for (const entry of await questionsBelow(client, run)) lines.push('', ...entryLines(entry, style));
  return lines;
}

class ChildTree {
  readonly #client: Client;
  readonly #style: Style;
  #reads: number;

  constructor(client: Client, style: Style, reads: number) {
    this.#client = client;
    this.#style = style;
    this.#reads = reads;
  }

  async lines(children: readonly ChildRun[], indent: string): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const [i, child] of children.entries()) {
      const isLast = i === children.length - 1;
      const { mark, paint } = lookOf(child.status, this.#style);
      const branch = this.#style.dim(`${indent}${isLast ? '└─' : '├─'}`);
      const name = `${safe(child.workflowId)}  ${this.#style.dim(safe(child.runId))}`;
      const read = await this.#read(child);
      const error =
        read?.error === undefined
          ? ''
          : `  ${this.#style.red(`${safe(read.error.code)}: ${safe(read.error.message)}`)}`;
      lines.push(`${branch} ${mark} ${name}  ${paint(child.status)}${error}`);
      lines.push(...(await this.lines(read?.childRuns ?? [], `${indent}${isLast ? '   ' : '│  '}`)));
    }
    return lines;
  }

  /** Null if the run cannot be read, or enough were. */
  async #read({ runId }: ChildRun): Promise<RunSnapshot | null> {
    if (this.#reads === 0) return null;
    this.#reads -= 1;
    try {
      return await this.#client.runs.get(runId);
    } catch (error) {
      if (isCairnError(error)) return null;
      throw error;
    }
  }
}
