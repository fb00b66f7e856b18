/** The engine at work: keeps one mailbox for each run it steps, and turns commands into facts posted to them. */
import {
  type ContextId,
  contextId,
  isCairnError,
  RetryableError,
  type RunId,
  type RunSnapshot,
  runId,
  runSnapshot,
} from '@cairn/protocol';
import type { Store } from '../../log/ports/store.ts';
import { answerDrafts } from '../core/answers.ts';
import { newRunState } from '../core/evolve.ts';
import { awaited, cancelRequested, type Fact } from '../core/facts.ts';
import { DEFAULT_RUN_DEPTH, type HostLimits } from '../core/limits.ts';
import { pauseRequested, resumed } from '../core/pause.ts';
import type { RunState } from '../core/state.ts';
import type {
  AnswerInterrupt,
  CancelRun,
  Engine,
  InterruptAnswered,
  Once,
  PauseRun,
  ResumeRun,
  RunCancelled,
  RunPaused,
  RunResumed,
  RunStarted,
  StartRun,
} from '../engine.ts';
import { type ChildStart, childPerformer } from '../family/child-performer.ts';
import { childEnded, parentEnded, unwantedBy } from '../family/child-runs.ts';
import { createNodeTypeRegistry } from '../nodes/node-types.ts';
import type { AgentSource, Clock, Performer, Redactor, Report, Sha256, Step, UniqueId } from '../ports.ts';
import { redactedStart, refuseSecrets } from '../values/redacted.ts';
import { type AgentPins, createAgentPins } from '../workflow/agent-pins.ts';
import type { NodeType } from '../workflow/node-type.ts';
import { createWorkflowRegistry, type WorkflowRegistry } from '../workflow/workflow-registry.ts';
import { appendOutside } from './append-unleased.ts';
import { settledWith } from './idempotency-record.ts';
import { importedSnapshot, runImported } from './imported-run.ts';
import { Mailbox } from './mailbox.ts';
import type { MailboxPorts, Opening } from './mailbox-ports.ts';
import { contextNotFound, createRunLoader, type RunLoader, runNotFound } from './run-loader.ts';
import { Scheduler } from './scheduler.ts';
import { callbackDrafts, startedDraft } from './start-run.ts';

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly uniqueId: UniqueId;
  readonly sha256: Sha256;
  /** Names this node among those that share the store; a new name for each start of the process. */
  readonly owner: string;
  readonly steps: readonly Step[];
  /** Kinds of node beside the core ones and the steps, and who performs the calls they make. */
  readonly nodeTypes?: readonly NodeType[];
  readonly performers?: readonly Performer[];
  /** Where agents are found. Default: this host has none. */
  readonly agents?: AgentSource | null;
  readonly limits: HostLimits;
  readonly report: Report;
  /** Takes known secrets out of what comes from outside. Default: there are none. */
  readonly redactor?: Redactor | null;
  /** How long a silent node keeps its runs. Default 30,000. */
  readonly leaseMs?: number;
}

export function createEngine(options: EngineOptions): Engine {
  return new Runtime(options);
}

/** A fact somebody sends, and what they are told once it is recorded. */
interface Command<Answer> {
  readonly propose: Fact['propose'];
  readonly look: (state: RunState) => Answer;
  readonly once: Once<Answer> | undefined;
  readonly answers?: () => string;
  readonly isPositioned?: boolean;
}

class Runtime implements Engine {
  readonly #options: EngineOptions;
  readonly #redactor: Redactor | null;
  readonly #mailboxes = new Map<RunId, Mailbox>();
  readonly #workflows: WorkflowRegistry;
  readonly #pins: AgentPins;
  readonly #loader: RunLoader;
  readonly #ports: MailboxPorts;
  readonly #scheduler: Scheduler;
  readonly #unfollow: () => void;
  /** Commands that have not been answered yet. */
  readonly #commands = new Set<Promise<unknown>>();
  #closed = false;

  constructor(options: EngineOptions) {
    const { store, clock, sha256, owner, report, redactor = null, leaseMs = 30_000 } = options;
    this.#options = options;
    this.#redactor = redactor;
    const { steps, nodeTypes = [], performers = [], agents = null } = options;
    this.#workflows = createWorkflowRegistry({
      store,
      nodeTypes: createNodeTypeRegistry(steps, nodeTypes),
      clock,
      sha256,
    });
    this.#pins = createAgentPins(agents);
    this.#loader = createRunLoader(store, this.#workflows, this.#pins);
    this.#ports = {
      store,
      clock,
      sha256,
      owner,
      leaseMs,
      report,
      redactor,
      loader: this.#loader,
      performers: new Map(
        [...steps, ...performers, this.#children()].map((performer) => [performer.typeId, performer]),
      ),
      tellRelatives: (state, relatives) => this.#ended(state, relatives),
      isUnwanted: unwantedBy(store.log, this.#loader, (keeper) => this.#mailboxes.get(keeper)),
      wakeBy: (at) => this.#scheduler.wakeBy(at),
      emptied: (run, mailbox) => {
        if (this.#mailboxes.get(run) === mailbox) this.#mailboxes.delete(run);
      },
    };
    this.#scheduler = new Scheduler({
      store,
      clock,
      owner,
      leaseMs,
      report,
      held: () => this.#mailboxes.size,
      adopt: (run, fence) => this.#adopt(run, fence),
    });
    this.#unfollow = store.log.follow((commit) => {
      const last = commit.rows.at(-1);
      if (last !== undefined) this.#mailboxes.get(commit.runId)?.sawCommit(last.seq);
    });
  }

  open(): Promise<void> {
    return this.#scheduler.open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#scheduler.close();
    await Promise.all([...this.#mailboxes.values()].map((mailbox) => mailbox.close()));
    await Promise.allSettled(this.#commands);
    this.#unfollow();
  }

  start(request: StartRun): Promise<RunStarted> {
    const redactor = this.#redactor;
    return this.#command(() => this.#start(redactor === null ? request : redactedStart(redactor, request)));
  }

  answer(request: AnswerInterrupt): Promise<InterruptAnswered> {
    return this.#command(() => this.#answer(request));
  }

  cancel(request: CancelRun): Promise<RunCancelled> {
    return this.#command(async () => {
      await this.#ofTenant(request.tenant, request.runId);
      const reason = this.#redacted(request.reason);
      const propose: Fact['propose'] = (state) => cancelRequested(state, { reason, by: request.principal });
      const look = (state: RunState) => ({ status: state.view.status });
      return this.#write(request.runId, { propose, look, once: request.once });
    });
  }

  pause(request: PauseRun): Promise<RunPaused> {
    return this.#command(async () => {
      await this.#ofTenant(request.tenant, request.runId);
      const reason = this.#redacted(request.reason);
      const propose: Fact['propose'] = (state) => pauseRequested(state, { ...request, reason });
      const look = ({ pause }: RunState) => ({ pausedAt: pause?.pausedAt ?? null });
      return this.#write(request.runId, { propose, look, once: request.once, isPositioned: true });
    });
  }

  resume(request: ResumeRun): Promise<RunResumed> {
    return this.#command(async () => {
      await this.#ofTenant(request.tenant, request.runId);
      const reason = this.#redacted(request.reason);
      let resumedAt = 0;
      const propose: Fact['propose'] = (state, now) => {
        resumedAt = now;
        return resumed(state, { ...request, reason });
      };
      const look = () => ({ resumedAt });
      return this.#write(request.runId, { propose, look, once: request.once, isPositioned: true });
    });
  }

  #redacted<Value>(value: Value): Value {
    return this.#redactor === null ? value : this.#redactor.value(value);
  }

  /** `close` waits for every command that was let in, and lets none in after it. */
  async #command<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const answer = work();
    this.#commands.add(answer);
    try {
      return await answer;
    } finally {
      this.#commands.delete(answer);
    }
  }

  async #start(request: StartRun, child?: ChildStart): Promise<RunStarted> {
    const { uniqueId, limits, clock } = this.#options;
    const { tenant, workflowId, version, definition } = request;
    const shared =
      definition === undefined
        ? await this.#workflows.byName(tenant, workflowId, version)
        : await this.#workflows.adopt(definition);
    const pins = await this.#pins.find(tenant, shared);
    const workflow = pins === null ? shared : await this.#pins.give(shared, pins);
    const { parent, unset } = child ?? {};
    const id = child?.runId ?? runId(uniqueId());
    const context = request.contextId ?? contextId(uniqueId());
    if (request.contextId !== undefined && parent === undefined) await this.#ownContext(tenant, context);
    const started = startedDraft({
      workflow,
      request: { ...request, contextId: context, parent, unset },
      limits,
      pins,
    });
    const drafts = [started, ...callbackDrafts(request.callbackUrl)];
    const { fact, done } = awaited(
      () => drafts,
      (state) => ({ runId: id, contextId: context, status: state.view.status }),
      settledWith(request.once, clock),
    );
    // An earlier attempt at the same child has come through after all: a run has one mailbox.
    if (this.#mailboxes.has(id)) throw atWork(id);
    const mailbox = this.#open(id, {
      kind: 'create',
      state: newRunState(id),
      workflow,
      run: { tenant, contextId: context, originRunId: id, parentRunId: parent?.runId },
      isAloneInScope: request.isAloneInScope,
    });
    mailbox.post(fact);
    return done;
  }

  /** Runs that nodes start are started here, like any other. */
  #children(): Performer {
    const { store, limits, clock } = this.#options;
    return childPerformer({
      log: store.log,
      clock,
      maxDepth: limits.maxRunDepth ?? DEFAULT_RUN_DEPTH,
      start: (child) => this.#command(() => this.#start(child.request, child)),
    });
  }

  /** The relatives of a run that has ended learn of it at once; were this host stopped now, the wakes that were written with the end would tell them. */
  #ended(state: RunState, relatives: readonly RunId[]): void {
    const { runId: id, view } = state;
    for (const relative of relatives) {
      const isAbove = relative === view.parentRunId;
      this.#tell(relative, isAbove ? (other) => childEnded(other, state) : (other) => parentEnded(other, id));
    }
  }

  #tell(id: RunId, propose: Fact['propose']): void {
    if (this.#closed) return;
    this.#command(() => this.#write(id, { propose, look: () => ({}), once: undefined, isPositioned: true })).catch(
      (error: unknown) => {
        // Whoever is told looks again when it is woken; and a run that does not exist yet has not missed anything.
        if (isCairnError(error) && (error.retryable || error.code === 'not_found')) return;
        this.#options.report({ level: 'warn', event: 'run.notify_failed', facts: { runId: id }, error });
      },
    );
  }

  async #ownContext(tenant: string, id: ContextId): Promise<void> {
    if ((await this.#options.store.log.contextTenant(id)) !== tenant) throw contextNotFound(id);
  }

  async #answer(request: AnswerInterrupt): Promise<InterruptAnswered> {
    await this.#ofTenant(request.tenant, request.runId);
    const value = this.#redacted(request.value);
    let interruptId = '';
    let nodeId = '';
    const propose: Fact['propose'] = (state, now) => {
      const answer = answerDrafts(state, { ...request, value }, now);
      interruptId = answer.interruptId;
      nodeId = answer.nodeId;
      return answer.drafts;
    };
    const look = (state: RunState) => ({ nodeId, status: state.view.status });
    return this.#write(request.runId, { propose, look, once: request.once, answers: () => interruptId });
  }

  async snapshot(tenant: string, id: RunId): Promise<RunSnapshot> {
    return (await this.snapshotAt(tenant, id)).snapshot;
  }

  async snapshotAt(tenant: string, id: RunId): Promise<{ seq: number; snapshot: RunSnapshot }> {
    const mailbox = this.#mailboxes.get(id);
    if (mailbox !== undefined) {
      try {
        return await mailbox.read((state) => shownTo(tenant, state));
      } catch (error) {
        // The mailbox was given up meanwhile, or never came to be: the log has the answer.
        if (!isCairnError(error)) throw error;
      }
    }
    const head = await this.#options.store.log.head(id);
    if (head === null || head.record.tenant !== tenant) throw runNotFound(id);
    if (head.record.importedAt !== null) {
      return { seq: head.seq, snapshot: await importedSnapshot(this.#options.store, head.record) };
    }
    return shownTo(tenant, (await this.#loader.load(id, tenant)).state);
  }

  async register(tenant: string, definition: Parameters<Engine['register']>[1]) {
    refuseSecrets(this.#redactor, 'The workflow', definition);
    return this.#workflows.register(tenant, definition);
  }

  async workflow(tenant: string, workflowId: string, version?: string) {
    return (await this.#workflows.byName(tenant, workflowId, version)).definition;
  }

  /** Writes a fact for whoever sent it: through the mailbox here, or past it when another node holds the run. */
  async #write<Answer extends object>(id: RunId, command: Command<Answer>): Promise<Answer> {
    const { propose, look, once, answers, isPositioned = false } = command;
    const { store, clock } = this.#options;
    const settled = settledWith(once, clock);
    const { fact, done } = awaited(propose, look, settled);
    const mailbox = this.#mailboxes.get(id) ?? this.#open(id, { kind: 'resting' });
    mailbox.post(fact);
    try {
      return await done;
    } catch (error) {
      if (!isCairnError(error, 'lease_held') && !isCairnError(error, 'lease_lost')) throw error;
    }
    this.#refuseWhenClosed();
    const outside = { store, loader: this.#loader, now: clock.now(), runId: id };
    const answer = await appendOutside({ ...outside, propose, look, settled, answers, isPositioned });
    this.#scheduler.nudge();
    return answer;
  }

  #refuseWhenClosed(): void {
    if (!this.#closed) return;
    throw new RetryableError('service_unavailable', {
      message: 'This host is stopping and takes no more commands.',
      hint: 'Send the request again; another node or the restarted host will take it.',
    });
  }

  #open(id: RunId, opening: Opening): Mailbox {
    this.#refuseWhenClosed();
    const mailbox = new Mailbox(id, opening, this.#ports);
    this.#mailboxes.set(id, mailbox);
    return mailbox;
  }

  #adopt(id: RunId, fence: number): void {
    if (this.#closed) {
      // Claimed while the engine was closing: it goes straight back.
      const { store, clock } = this.#options;
      const released = store.queue.release({ runId: id, fence, wakeAt: clock.now() });
      this.#commands.add(
        released.catch((error) => this.#options.report({ level: 'warn', event: 'lease.release_failed', error })),
      );
      return;
    }
    const mailbox = this.#mailboxes.get(id);
    if (mailbox === undefined) this.#open(id, { kind: 'claimed', fence });
    else mailbox.adopt(fence);
  }

  async #ofTenant(tenant: string, id: RunId): Promise<void> {
    const head = await this.#options.store.log.head(id);
    if (head === null || head.record.tenant !== tenant) throw runNotFound(id);
    if (head.record.importedAt !== null) throw runImported(id);
  }
}

const atWork = (id: RunId): RetryableError =>
  new RetryableError('conflict', {
    message: `Run ${id} is at work here already.`,
    hint: 'Look whether it is the one that was to be started.',
  });

function shownTo(tenant: string, { view, runId: id }: RunState): { seq: number; snapshot: RunSnapshot } {
  if (view.owner?.tenant !== tenant) throw runNotFound(id);
  return { seq: view.lastSeq, snapshot: runSnapshot(view) };
}
