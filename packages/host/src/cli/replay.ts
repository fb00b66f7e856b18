/** `cairn replay`: decides recorded runs again with this version, without a host. Ends with 1 at the first divergence. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject, type Json, type JsonObject, type RunId, TerminalError } from '@cairn/protocol';
import type { Divergence, RecordedRow } from '../engine/replay/recorded-row.ts';
import { parseStoredDefinition, type RecordedTypes, recordedTypes } from '../engine/replay/recorded-types.ts';
import { redecide } from '../engine/replay/redecide.ts';
import { compileWorkflow } from '../engine/workflow/workflow.ts';
import { openReadOnly } from '../log/sqlite/folder/read-only.ts';
import { withBundle } from './bundle-file.ts';
import { dataFolder } from './data-folder.ts';
import { exit } from './exit.ts';
import { keptRunNamed } from './kept-run-name.ts';
import { lookOf } from './render/status.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface ReplayFlags {
  readonly data?: string;
  readonly json?: boolean;
}

interface Verdict {
  readonly ok: boolean;
  readonly runId: string;
  /** Events that agree with the record. */
  readonly events: number;
  /** Why it could not go on; null if the record agrees. */
  readonly problem: string | null;
  readonly divergence: JsonObject | null;
}

/** A run of a record, wherever it is kept. */
interface Source {
  readonly runId: RunId;
  readonly definition: string | null;
  readonly rows: Iterable<Omit<RecordedRow, 'payload'> & { readonly payload: string | null }>;
}

/** An existing file is a bundle; any other name is a run in the data folder. */
export async function replay(terminal: Terminal, names: readonly string[], flags: ReplayFlags): Promise<number> {
  for (const name of names) {
    const file = resolve(terminal.cwd, name);
    const isRight = existsSync(file)
      ? await withBundle(file, ({ runs, definitions }) =>
          judgeAll(terminal, flags, {
            *[Symbol.iterator]() {
              for (const { run, rows } of runs)
                yield { runId: run.runId, definition: definitions.get(run.definitionHash) ?? null, rows };
            },
          }),
        )
      : await ofFolder(terminal, name, flags);
    if (!isRight) return exit.failed;
  }
  return exit.ok;
}

async function ofFolder(terminal: Terminal, name: string, flags: ReplayFlags): Promise<boolean> {
  const folder = dataFolder(terminal, flags.data);
  const log = openReadOnly(folder);
  try {
    const run = log.run(keptRunNamed(log, name));
    if (run === null) {
      throw new TerminalError('not_found', {
        message: `There is no file ${name}, and no run with that id in ${folder}.`,
        hint: 'Pass a run id or the path of a bundle. --data selects another data folder.',
      });
    }
    const definition = log.definition(run.definitionHash);
    return await judgeAll(terminal, flags, [{ runId: run.runId, definition, rows: log.rows(run) }]);
  } finally {
    log.close();
  }
}

/** Returns false at the first run that does not agree. */
async function judgeAll(terminal: Terminal, flags: ReplayFlags, sources: Iterable<Source>): Promise<boolean> {
  for (const source of sources) {
    const verdict = await judge(source);
    if (flags.json === true) terminal.print(jsonLine(verdict));
    else print(terminal, verdict);
    if (!verdict.ok) return false;
  }
  return true;
}

async function judge({ runId, definition, rows }: Source): Promise<Verdict> {
  if (definition === null)
    return { ok: false, runId, events: 0, problem: 'its definition is not here', divergence: null };
  const types = recordedTypes();
  const workflow = compileWorkflow(parseStoredDefinition(definition), '', types.registry);
  const pages = new Pages(rows, types);
  const { events, divergence } = await redecide({ runId, workflow }, pages);
  if (divergence === null && pages.withheld === null)
    return { ok: true, runId, events, problem: null, divergence: null };
  if (divergence === null) {
    const problem = `the payload of event ${pages.withheld} is not in the record`;
    return { ok: false, runId, events, problem, divergence: null };
  }
  const { nodeId = null } = divergence.recorded ?? {};
  const unknown = nodeId === null ? null : types.unknown(workflow.nodes.get(nodeId)?.node.typeId);
  const problem =
    unknown === null
      ? `event ${divergence.seq} differs`
      : `event ${divergence.seq} belongs to a node of type ${unknown}, which cannot be decided without a host`;
  return { ok: false, runId, events, problem, divergence: unknown === null ? shown(divergence) : null };
}

const PAGE = 1_000;

/** Pages of rows. Learns from each page what steps it calls, before the page is decided. */
class Pages {
  withheld: number | null = null;
  readonly #rows: Source['rows'];
  readonly #types: RecordedTypes;

  constructor(rows: Source['rows'], types: RecordedTypes) {
    this.#rows = rows;
    this.#types = types;
  }

  *[Symbol.iterator](): Generator<readonly RecordedRow[]> {
    let page: RecordedRow[] = [];
    for (const { payload, ...row } of this.#rows) {
      if (payload === null) this.withheld ??= row.seq;
      // The rows of a bundle are verified only when all have been read.
      if (payload === null || this.withheld !== null) continue;
      const full = { ...row, payload };
      this.#types.learn(full);
      page.push(full);
      if (page.length < PAGE) continue;
      yield page;
      page = [];
    }
    yield page;
  }
}

const shown = ({ seq, kind, recorded, present, error }: Divergence): JsonObject => ({
  seq,
  kind,
  recorded:
    recorded === null
      ? null
      : { type: recorded.type, nodeId: recorded.nodeId, cause: recorded.cause, payload: recorded.payload },
  present:
    present === null
      ? null
      : {
          type: present.type,
          nodeId: present.nodeId ?? null,
          cause: present.cause ?? null,
          payload: JSON.stringify(present.payload),
        },
  ...(error === undefined ? {} : { error }),
});

/** Longest payload that a line shows; --json shows all of it. */
const MAX_SHOWN = 400;

function print(terminal: Terminal, { ok, runId, events, problem, divergence }: Verdict): void {
  const { mark } = lookOf(ok ? 'completed' : 'failed', styleOf(terminal.colours.out));
  terminal.print(`${mark} ${safe(runId)}: ${ok ? `${events} events, decided as recorded` : safe(problem ?? '')}`);
  if (divergence === null) return;
  terminal.print(`  recorded: ${line(divergence.recorded)}`);
  terminal.print(`  now:      ${line(divergence.present)}`);
}

function line(side: Json | undefined): string {
  if (!isJsonObject(side)) return 'nothing';
  const text = `${side.type}${side.nodeId === null ? '' : ` of ${side.nodeId}`}, cause ${side.cause}: ${side.payload}`;
  return safe(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
