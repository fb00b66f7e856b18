/** `cairn move`: copies the store of a data folder into PostgreSQL. A move that was stopped or killed goes on where it was. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type MoveProgress, moveToPostgres } from '../log/copy/move.ts';
import { connect, Database } from '../log/postgres/database.ts';
import { migratePostgres } from '../log/postgres/migrate.ts';
import { dataFolder } from './data-folder.ts';
import { databaseUrl } from './database-url.ts';
import { exit } from './exit.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface MoveFlags {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

export async function move(terminal: Terminal, flags: MoveFlags): Promise<number> {
  const folder = flags.from === undefined ? dataFolder(terminal, undefined) : resolve(terminal.cwd, flags.from);
  const pool = connect({ url: await databaseUrl(terminal, flags.to, undefined), connections: 1 });
  const stop = new AbortController();
  terminal.onSignal(() => stop.abort());
  const progress = new Progress(terminal);
  try {
    const database = new Database(pool);
    await migratePostgres(database);
    const { signal } = stop;
    const moved = await moveToPostgres({ folder, database, signal, onProgress: (now) => progress.show(now) });
    progress.end();
    const { outcome, rows, runs, events } = moved;
    if (flags.json === true) terminal.print(jsonLine({ outcome, folder, database: pool.place, rows, runs, events }));
    if (outcome === 'stopped') {
      if (flags.json !== true) terminal.tell('Stopped. Run the same command to go on.');
      return exit.interrupted;
    }
    if (flags.json !== true) tellMoved(terminal, folder, { ...moved, place: pool.place });
    return exit.ok;
  } finally {
    progress.end();
    await pool.end();
  }
}

interface Told {
  readonly place: string;
  readonly outcome: string;
  readonly runs: number;
  readonly events: number;
}

function tellMoved(terminal: Terminal, folder: string, { place, outcome, runs, events }: Told): void {
  const mark = styleOf(terminal.colours.out).green('✓');
  if (outcome === 'before') {
    terminal.print(`· ${safe(folder)} was moved to ${safe(place)} before; nothing to do`);
    return;
  }
  terminal.print(`${mark} ${safe(place)}: runs: ${runs}, events: ${events}; all hashes are valid`);
  if (existsSync(join(folder, 'host.key')))
    terminal.tell(
      `Give every node the key of this host: CAIRN_MASTER_KEY=$(cat ${safe(join(folder, 'host.key'))}), or as masterKey.previous.`,
    );
  if (existsSync(join(folder, 'runs')))
    terminal.tell(`Copy ${safe(join(folder, 'runs'))} into the data folder of every node: it has files of old runs.`);
  terminal.tell(`${safe(folder)} is unchanged. Do not start a host there: both would go on with the same runs.`);
}

/** Parts of the whole after which a file or a pipe gets a line. */
const LINES = 10;
const BAR = 24;

/** A bar on a terminal, a line for each tenth elsewhere. */
class Progress {
  readonly #terminal: Terminal;
  #told = '';
  #isDrawn = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show({ step, table, done, of }: MoveProgress): void {
    const part = of === 0 ? 1 : Math.min(1, done / of);
    const what = step === 'copy' ? `copy ${table}` : 'verify';
    if (this.#terminal.columns === null) {
      const tenth = `${step} ${Math.floor(part * LINES)}`;
      if (tenth === this.#told) return;
      this.#told = tenth;
      this.#terminal.tell(`${step}: ${percent(part)}, ${done} of ${of}`);
      return;
    }
    const full = Math.round(part * BAR);
    const bar = `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
    const line = `${bar} ${percent(part)}  ${what}  ${done} of ${of}`;
    this.#isDrawn = true;
    this.#terminal.redraw(line.slice(0, this.#terminal.columns - 1));
  }

  /** Removes the bar. */
  end(): void {
    if (this.#isDrawn) this.#terminal.redraw('');
    this.#isDrawn = false;
  }
}

const percent = (part: number): string => `${Math.floor(part * 100)} %`;
