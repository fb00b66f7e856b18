/** A run that ends the process when it is decided, in a real process on a real database. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, RunId, WorkflowDefinition } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { dataFindings } from '../../packages/host/src/cli/doctor-data.ts';
import { freshDatabase } from '../../packages/host/src/log/postgres/server.kit.ts';
import { openReadOnly } from '../../packages/host/src/log/sqlite/folder/read-only.ts';
import { chain } from '../../packages/host/test/kit/engine-bench.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import type { FromDeadly, ToDeadly } from './deadly-main.ts';

type Node = string | { readonly typeId: string; readonly config: JsonObject };

const flow = (id: string, ...nodes: readonly Node[]): WorkflowDefinition => ({ ...chain(...nodes), id });
const delay = (delayMs: number) => ({ typeId: 'core.delay', config: { delayMs } });

/** Loops for as long as the test runs. */
const busy: WorkflowDefinition = {
  ...flow('busy', { typeId: 'core.loop', config: { times: 1_000_000 } }, delay(5)),
  edges: [
    { id: 'body', sourceNodeId: 'n1', sourceOutput: 'body', targetNodeId: 'n2' },
    { id: 'back', sourceNodeId: 'n2', targetNodeId: 'n1' },
  ],
};

function dataFolder(): string {
  const home = mkdtempSync(join(tmpdir(), 'cairn-deadly-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return join(home, 'data');
}

type Said = FromDeadly | { readonly kind: 'died'; readonly signal: string | null };

class Deadly {
  readonly #child: ChildProcess;
  /** What it said and nobody has read yet. Two messages may come at once. */
  readonly #said: Said[] = [];
  #wake = Promise.withResolvers<void>();

  /** `place` is a data folder, or the URL of a database. */
  constructor(place: string) {
    this.#child = fork(join(import.meta.dirname, 'deadly-main.ts'), [place], {
      execArgv: ['--conditions=@cairn/source', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromDeadly) => this.#say(message));
    // After its last messages, unlike `exit`.
    this.#child.on('close', (_, signal) => this.#say({ kind: 'died', signal }));
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  #say(said: Said): void {
    this.#said.push(said);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** The next message, or how the process ended. */
  async next(): Promise<Said> {
    for (;;) {
      const said = this.#said.shift();
      if (said !== undefined) return said;
      await this.#wake.promise;
    }
  }

  /** What a node notices until it dies. */
  async notices(): Promise<readonly string[]> {
    const found: string[] = [];
    for (;;) {
      const next = await this.next();
      if (next.kind === 'died') return found;
      if (next.kind === 'noticed') found.push(next.notice);
    }
  }

  /** What a node notices up to this. */
  async until(notice: string): Promise<readonly string[]> {
    const found: string[] = [];
    while (found.at(-1) !== notice) {
      const next = await this.next();
      if (next.kind === 'died') return [...found, `died: ${next.signal}`];
      if (next.kind === 'noticed') found.push(next.notice);
    }
    return found;
  }

  async ask(message: ToDeadly) {
    this.#child.send(message);
    for (;;) {
      const said = await this.next();
      // A node may look at runs of a dead one before it has opened, or after.
      if (said.kind !== 'opened' && said.kind !== 'noticed') return said;
    }
  }

  async start(definition: WorkflowDefinition): Promise<RunId> {
    const answer = await this.ask({ start: definition });
    return answer.kind === 'started' ? answer.runId : ('' as RunId);
  }

  async stop(): Promise<void> {
    this.#child.send('stop');
    await once(this.#child, 'exit');
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

const killed = { kind: 'died', signal: 'SIGKILL' };

function typesOf(folder: string, runId: RunId): readonly string[] {
  const log = openReadOnly(folder);
  const types = [...log.rows(present(log.run(runId)))].map((row) => row.type);
  log.close();
  return types;
}

test.for([
  ['wakes', [delay(100), 'local.deadly']],
  ['gets the result of a step', [delay(100), 'local.step.quick', 'local.deadly']],
] as const)(
  'a run that kills the host when it %s is tried once more, then quarantined, while others go on',
  { timeout: 60_000 },
  async ([, nodes]) => {
    const folder = dataFolder();
    const first = new Deadly(folder);
    expect(await first.next()).toEqual({ kind: 'opened', notices: [] });
    const other = await first.start(busy);
    const bad = await first.start(flow('bad', ...nodes));
    expect(await first.next()).toEqual(killed);

    const second = new Deadly(folder);
    const tried = await second.next();
    // The result of a step comes only after the host has opened.
    if (tried.kind === 'opened') {
      expect(tried.notices).toEqual([`run.suspected ${bad}`]);
      expect(await second.next()).toEqual(killed);
    } else expect(tried).toEqual(killed);

    const before = typesOf(folder, bad);
    const third = new Deadly(folder);
    expect(await third.next()).toEqual({ kind: 'opened', notices: [`run.quarantined ${bad}`] });
    expect(await third.ask({ snapshot: bad })).toEqual({ kind: 'snapshot', status: 'failed', code: 'run_quarantined' });
    expect(await third.ask({ snapshot: other })).toEqual({ kind: 'snapshot', status: 'running', code: null });
    const later = await third.start(flow('later', 'core.noop'));
    await third.stop();
    expect(typesOf(folder, bad)).toEqual([...before, 'run.failed']);
    expect(typesOf(folder, later).at(-1)).toBe('run.completed');
    expect(await dataFindings(folder)).toContainEqual({
      subject: 'quarantine',
      state: 'doubtful',
      text: `the host died while it decided ${bad}`,
      hint: expect.any(String),
    });
  },
);

test('a run that kills its node is tried once more by another, then quarantined by a third, while others go on', {
  timeout: 120_000,
}, async () => {
  const url = await freshDatabase();
  const first = new Deadly(url);
  await first.next();
  const other = await first.start(busy);
  const bad = await first.start(flow('bad', delay(100), 'local.step.quick', 'local.deadly'));
  expect(await first.next()).toEqual(killed);

  const second = new Deadly(url);
  expect(await second.notices()).toEqual([`run.suspected ${bad}`]);

  const third = new Deadly(url);
  expect(await third.until(`run.quarantined ${bad}`)).toEqual([`run.quarantined ${bad}`]);
  expect(await third.ask({ snapshot: bad })).toEqual({ kind: 'snapshot', status: 'failed', code: 'run_quarantined' });
  expect(await third.ask({ snapshot: other })).toEqual({ kind: 'snapshot', status: 'running', code: null });
  await third.stop();
});

test('kills from outside quarantine no run, however often they meet one that is being decided', async () => {
  const folder = dataFolder();
  const runIds: RunId[] = [];
  for (let kill = 0; kill < 5; kill++) {
    const host = new Deadly(folder);
    const opened = await host.next();
    expect(opened.kind).toBe('opened');
    if (kill === 0) for (const id of ['a', 'b', 'c']) runIds.push(await host.start({ ...busy, id }));
    await host.kill();
  }
  const last = new Deadly(folder);
  await last.next();
  for (const snapshot of runIds) expect(await last.ask({ snapshot })).toMatchObject({ status: 'running' });
  await last.stop();
}, 60_000);
