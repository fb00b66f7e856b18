/**
 * External users and programs: they start, answer, pause, resume, cancel and read at either node, and record the
 * responses.
 */
import { type InterruptView, isCairnError, type Json, type JsonObject } from '@cairn/protocol';
import type { RunStarted } from '../../packages/host/src/engine/engine.ts';
import { dispatch } from '../../packages/host/src/engine/nodes/dispatch.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';
import { relayNode } from '../../packages/host/test/kit/relay-node.ts';
import { rightAnswer, wrongAnswer } from './answers.ts';
import type { Auditor } from './auditor.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';
import { Promises } from './promises.ts';
import type { RunAudit } from './run-audit.ts';
import type { Life } from './sim-node.ts';
import { Streams } from './streams.ts';

export const TENANT = 'acme';
const ENDPOINT = 'POST /v1/runs';

/** Runs beyond those that clients start, so that a world of forks comes to an end. */
const MAX_FORKS = 8;

const drivenTypes: ReadonlySet<string> = new Set([relayNode.typeId, dispatch.typeId]);

export interface ClientWorld {
  readonly random: Random;
  readonly auditor: Auditor;
  readonly base: Store;
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
  readonly note: (text: string) => void;
  /** Whether a node has been notified of every commit. */
  readonly isUpToDate: (life: string) => boolean;
  readonly workflowIds: readonly string[];
  readonly runs: number;
}

export class Clients {
  readonly promises: Promises;
  readonly streams: Streams;
  readonly #world: ClientWorld;
  readonly #underWay = new Map<number, string>();
  /** Time of the last answer to a question, or the last resume of a run, in the fault-free phase. */
  readonly #tried = new Map<string, number>();
  #requests = 0;
  #started = 0;

  constructor(world: ClientWorld) {
    this.#world = world;
    this.promises = new Promises(world);
    this.streams = new Streams({ ...world, random: world.random.fork('streams') });
  }

  /** Pending requests at live nodes. */
  get waiting(): number {
    return this.#underWay.size;
  }

  /** Requests at a node that died get no response. */
  forget(life: string): void {
    for (const [id, at] of this.#underWay) if (at === life) this.#underWay.delete(id);
    this.streams.forget(life);
  }

  onRow(row: Row): void {
    this.promises.onRow(row);
  }

  /** Sends one random request to a random serving node. */
  act(lives: readonly Life[]): void {
    const { random, runs, auditor } = this.#world;
    if (lives.length === 0) return;
    const life = random.pick(lives);
    const audits = [...auditor.runs.values()].filter(({ runId }) => !auditor.forks.isReplay(runId));
    const open = audits.filter((run) => run.ended === null);
    if (audits.length === 0 || random.chance(open.length < runs ? 0.5 : 0.02)) {
      this.#start(life, lives);
      return;
    }
    const asking = open.filter((run) => Object.keys(run.view.interrupts).length > 0);
    const run = open.length > 0 && !random.chance(0.1) ? random.pick(open) : random.pick(audits);
    const paused = open.filter((one) => one.isPaused);
    const answer = asking.length > 0 ? 8 : 0;
    const forks = audits.length < runs + MAX_FORKS ? 0.8 : 0;
    const control = { cancel: 0.4, pause: 1.2, resume: paused.length > 0 ? 2 : 0.1 };
    switch (random.weighted({ answer, again: 0.4, ...control, snapshot: 1.5, watch: 2, fork: forks })) {
      case 'answer':
        this.#answer(random.pick(asking), life, lives);
        break;
      case 'pause':
        this.#pause(run, life);
        break;
      case 'resume':
        this.#resume(paused.length > 0 ? random.pick(paused) : run, life);
        break;
      case 'again':
        this.#answerAgain(run, life);
        break;
      case 'cancel':
        this.#cancel(run, life);
        break;
      case 'snapshot':
        this.#snapshot(run, life);
        break;
      case 'fork':
        this.#fork(random.pick(audits), life);
        break;
      default:
        this.streams.act(run.runId, life);
    }
  }

  /**
   * In the fault-free phase, answers every open question, once per point in time. A refused answer is retried later.
   * Returns true when there was a question to answer.
   */
  answerAll(life: Life, time: number): boolean {
    let any = false;
    for (const run of this.#world.auditor.runs.values()) {
      if (run.ended !== null || this.#world.auditor.forks.isReplay(run.runId)) continue;
      for (const interrupt of Object.values(run.view.interrupts)) {
        const key = `${run.runId} ${interrupt.interruptId}`;
        if (this.#tried.get(key) === time) continue;
        this.#tried.set(key, time);
        any = true;
        this.#give(run, interrupt, life);
      }
    }
    return any;
  }

  /** In the fault-free phase, resumes every paused run. Returns true when there was one. */
  resumeAll(life: Life, time: number): boolean {
    let any = false;
    for (const run of this.#world.auditor.runs.values()) {
      if (
        run.ended !== null ||
        !run.isPaused ||
        this.#world.auditor.forks.isReplay(run.runId) ||
        this.#tried.get(run.runId) === time
      )
        continue;
      this.#tried.set(run.runId, time);
      any = true;
      this.#resume(run, life);
    }
    return any;
  }

  #start(life: Life, lives: readonly Life[]): void {
    const { random, workflowIds } = this.#world;
    this.#started += 1;
    const key = `key-${this.#started}`;
    const inputs: JsonObject = random.chance(0.5) ? { flag: random.chance(0.5), count: random.below(4) } : {};
    const request = {
      tenant: TENANT,
      principal: 'ann',
      workflowId: random.pick(workflowIds),
      inputs,
      options: { tags: [key], configurable: drawLimits(random) },
    };
    const idempotency = {
      tenant: TENANT,
      endpoint: ENDPOINT,
      key,
      requestDigest: key,
      owner: null,
      response: ({ runId }: RunStarted) => ({ status: 201, body: JSON.stringify({ runId }) }),
    };
    const hasKey = random.chance(0.4);
    const send = (at: Life): void => {
      this.#send(
        at,
        `start ${request.workflowId} ${key}`,
        at.engine.start(hasKey ? { ...request, idempotency } : request),
        {
          done: ({ runId }) => this.promises.started(runId, hasKey ? key : null),
          refused: (error) => this.promises.notStarted(error, key),
        },
      );
    };
    send(life);
    if (hasKey && random.chance(0.6)) {
      this.#world.count('start repeated with the same key');
      send(random.pick(lives));
    }
  }

  #answer(run: RunAudit, life: Life, lives: readonly Life[]): void {
    const { random, count } = this.#world;
    const interrupt = random.pick(Object.values(run.view.interrupts));
    const wrong = random.chance(0.15) ? wrongAnswer(interrupt) : null;
    if (wrong !== null) {
      this.#sendAnswer(run, interrupt, wrong, null, life);
      return;
    }
    this.#give(run, interrupt, life);
    if (!random.chance(0.25)) return;
    count('answer given twice at once');
    this.#give(run, interrupt, random.pick(lives));
  }

  /** Answers a question that is already resolved. */
  #answerAgain(run: RunAudit, life: Life): void {
    const closed = Object.keys(run.view.resolvedInterrupts);
    if (closed.length === 0) return;
    const interruptId = this.#world.random.pick(closed);
    const mark = this.promises.newMark(run.runId, interruptId);
    this.#sendAnswer(run, { interruptId }, { note: mark }, mark, life);
  }

  #give(run: RunAudit, interrupt: InterruptView, life: Life): void {
    const mark = this.promises.newMark(run.runId, interrupt.interruptId);
    const { value, marked } = rightAnswer(interrupt, mark, this.#world.random);
    this.#sendAnswer(run, interrupt, value, marked ? mark : null, life);
  }

  /** An answer with a mark was drawn to fit its question. */
  #sendAnswer(
    { runId, view }: RunAudit,
    to: { readonly interruptId: string; readonly nodeId?: string },
    value: Json,
    mark: string | null,
    life: Life,
  ): void {
    // A driven node may have asked a new question by then, so answers to it name the interrupt.
    const isDriven = drivenTypes.has(view.nodeStates[to.nodeId ?? '']?.typeId ?? '');
    const byNode = to.nodeId !== undefined && !isDriven && this.#world.random.chance(0.5);
    const place = byNode ? { nodeId: to.nodeId } : { interruptId: to.interruptId };
    const request = { tenant: TENANT, principal: 'bob', runId, value, ...place };
    this.#send(life, `answer ${runId} ${JSON.stringify(place)} ${JSON.stringify(value)}`, life.engine.answer(request), {
      done: () => this.promises.answered(mark),
      refused: (error) => {
        if (mark !== null && to.nodeId !== undefined && isCairnError(error, 'validation_error')) {
          this.#world.complain('an answer that fits its question is not refused for its value', {
            runId,
            value,
            error,
          });
        }
        this.promises.notAnswered(error, mark);
      },
    });
  }

  #cancel({ runId }: RunAudit, life: Life): void {
    this.#send(life, `cancel ${runId}`, life.engine.cancel({ tenant: TENANT, runId, reason: 'enough' }), {
      done: ({ status }) => this.promises.cancelled(runId, status),
      refused: () => undefined,
    });
  }

  #pause({ runId }: RunAudit, life: Life): void {
    const drainPolicy = this.#world.random.chance(0.5) ? 'immediate' : 'drain-current-node';
    this.#send(life, `pause ${runId} ${drainPolicy}`, life.engine.pause({ tenant: TENANT, runId, drainPolicy }), {
      done: ({ pausedAt }) => this.promises.paused(runId, pausedAt),
      refused: (error) => this.promises.notPaused(error),
    });
  }

  #resume({ runId }: RunAudit, life: Life): void {
    this.#send(life, `resume ${runId}`, life.engine.resume({ tenant: TENANT, runId }), {
      done: () => this.promises.resumed(runId),
      refused: (error) => this.promises.notResumed(error),
    });
  }

  #snapshot({ runId, rows }: RunAudit, life: Life): void {
    // A node that has not heard of a commit may show an older state of the run, but never a later one.
    const atLeast = this.#world.isUpToDate(life.name) ? rows.length - 1 : 0;
    this.#send(life, `snapshot ${runId}`, life.engine.snapshot(TENANT, runId), {
      done: (snapshot) => this.#world.auditor.checkSnapshot(runId, snapshot, atLeast),
      refused: (error) => {
        if (!isCairnError(error) || !error.retryable) this.#world.complain('a run can be looked at', { runId, error });
      },
    });
  }

  /** A replay needs a record that has ended, else it would wait for the rest of it. */
  #fork({ runId, ended, rows }: RunAudit, life: Life): void {
    const { random, count } = this.#world;
    const refused = (error: unknown): void => {
      count('fork refused');
      if (isCairnError(error, 'validation_error')) this.#world.complain('a proper fork is accepted', { runId, error });
    };
    if (ended === 'run.failed' && random.chance(0.3)) {
      const done = () => count('run retried');
      this.#send(life, `retry ${runId}`, life.engine.retry({ tenant: TENANT, runId }), { done, refused });
      return;
    }
    const mode = ended !== null && random.chance(0.4) ? 'replay' : 'branch';
    const fromSeq = random.between(0, rows.length);
    const isWholeTree = mode === 'branch' && random.chance(0.4);
    const request = { tenant: TENANT, principal: 'cleo', runId, mode, fromSeq, isWholeTree } as const;
    this.#send(life, `fork ${runId} ${mode} ${fromSeq}`, life.engine.fork(request), { done: () => undefined, refused });
  }

  #send<Answer>(
    life: Life,
    label: string,
    answer: Promise<Answer>,
    { done, refused }: { readonly done: (answer: Answer) => void; readonly refused: (error: unknown) => void },
  ): void {
    const { note, complain } = this.#world;
    this.#requests += 1;
    const id = this.#requests;
    this.#underWay.set(id, life.name);
    note(`#${id} at ${life.name}: ${label}`);
    answer.then(
      (value) => {
        this.#underWay.delete(id);
        note(`#${id} done`);
        done(value);
      },
      (error: unknown) => {
        this.#underWay.delete(id);
        note(`#${id} refused: ${isCairnError(error) ? error.code : String(error)}`);
        if (!isCairnError(error) || error.code === 'internal_error') {
          complain('a request ends with an answer or an error of the closed list', { label, error });
        }
        refused(error);
      },
    );
  }
}

const drawLimits = (random: Random): JsonObject => ({
  ...(random.chance(0.1) ? { recursionLimit: random.between(1, 6) } : {}),
  ...(random.chance(0.12) ? { runTimeoutMs: random.between(200, 30_000) } : {}),
});
