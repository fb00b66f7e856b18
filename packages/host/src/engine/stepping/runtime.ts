/** The engine's runtime: keeps one mailbox for each run it steps, and posts commands to them as facts. */
import { isCairnError, type RunId, type RunSnapshot } from '@cairn/protocol';
import type { Claim } from '../../log/ports/queue.ts';
import { PassingMap } from '../../passing-map.ts';
import { type EntryRedaction, entryRedaction } from '../attempts/entry-redaction.ts';
import { WorkInProgress } from '../attempts/work-in-progress.ts';
import type { ForkPorts } from '../branching/fork-ports.ts';
import { forkRun, retryRun } from '../branching/fork-run.ts';
import { cancelError } from '../core/control/cancel-call.ts';
import { awaited } from '../core/facts.ts';
import { createRun, type RunCreationPorts } from '../creation/create-run.ts';
import { recordFor } from '../creation/idempotency-record.ts';
import type {
  AnswerInterrupt,
  CancelCall,
  CancelRun,
  Engine,
  ForkRun,
  InterruptAnswered,
  PauseRun,
  ResumeRun,
  RetryRun,
  RunCancelled,
  RunForked,
  RunPaused,
  RunResumed,
  RunStarted,
  StartRun,
} from '../engine.ts';
import { type ChildStart, createChildPerformer, startOfChild } from '../family/child-performer.ts';
import { unwantedBy } from '../family/missed-ends.ts';
import { RecordedResults } from '../fork/recorded-results.ts';
import { createRunLoader, type RunLoader, STATE_FORMAT } from '../loading/run-loader.ts';
import { refuseForeignRun } from '../loading/run-of-tenant.ts';
import { currentSnapshot, type SnapshotAt } from '../loading/snapshots.ts';
import { describeNodeTypes } from '../nodes/node-types.ts';
import { StepTypes } from '../nodes/step-types.ts';
import { createRunPins, type RunPins } from '../pins/run-pins.ts';
import type { Redactor, Step } from '../ports.ts';
import { createSecretsOf, type SecretsOf } from '../sensitive/run-secrets.ts';
import { TenantShares } from '../shares/tenant-shares.ts';
import { Turns, type Urgency } from '../shares/turns.ts';
import { refuseSecrets } from '../values/redacted.ts';
import { createWorkflowRegistry, type WorkflowRegistry } from '../workflow/workflow-registry.ts';
import { appendUnleased } from './append-unleased.ts';
import * as commands from './commands.ts';
import type { EngineOptions } from './engine-options.ts';
import { Mailbox } from './mailbox.ts';
import { engineStopping, type MailboxOpening, type MailboxPorts } from './mailbox-ports.ts';
import { type NoticePorts, notifyRelatives, type RunOfTenant } from './notify-relatives.ts';
import { settleDeaths, settleTakenOver } from './quarantine.ts';
import { releaseLease } from './release-lease.ts';
import { Scheduler } from './scheduler.ts';
import { ShortWaits } from './short-waits.ts';
import { stoppedRuns } from './stopped-runs.ts';

export function createEngine(options: EngineOptions): Engine {
  return new Runtime(options);
}

class Runtime implements Engine {
  readonly shares: TenantShares;
  readonly #options: EngineOptions;
  readonly #redactor: Redactor | null;
  readonly #secretsOf: SecretsOf;
  readonly #redaction: EntryRedaction;
  readonly #mailboxes = new PassingMap<RunId, Mailbox>();
  readonly #steps: StepTypes;
  readonly #workflows: WorkflowRegistry;
  readonly #loader: RunLoader;
  readonly #ports: MailboxPorts;
  readonly #creation: RunCreationPorts;
  readonly #forks: ForkPorts;
  readonly #scheduler: Scheduler;
  readonly #unfollow: () => void;
  readonly #commands = new WorkInProgress();
  #closed = false;

  constructor(options: EngineOptions) {
    const { store, clock, owner, report, redactor = null, entryMask = null, leaseMs = 30_000 } = options;
    this.#options = options;
    this.#redactor = redactor;
    this.#secretsOf = createSecretsOf(options.vault ?? null);
    this.#redaction = entryRedaction({ redactor, entryMask, secretsOf: this.#secretsOf });
    const { steps, nodeTypes: others = [], performers = [] } = options;
    const children = createChildPerformer(options, (child) => this.#startChild(child));
    this.#steps = new StepTypes(steps, others, [...performers, children]);
    this.shares = new TenantShares(options.limits, clock.now, options.longTurns ?? options.eventLoop);
    const { longWork } = this.shares;
    this.#workflows = createWorkflowRegistry({ ...options, nodeTypes: this.#steps.nodeTypes, longWork });
    const pins = createRunPins(options);
    this.#loader = createRunLoader({ ...options, workflows: this.#workflows, pins, longWork });
    this.#creation = this.#creationPorts(pins);
    this.#forks = { ...this.#creation, loader: this.#loader, nudge: () => this.#scheduler.nudge() };
    this.#ports = this.#mailboxPorts(leaseMs);
    this.#scheduler = new Scheduler({
      ...{ store, clock, owner, leaseMs, report },
      held: () => this.#mailboxes.size,
      settle: (claims) => settleTakenOver({ ...this.#ports, adopt: (claim) => this.#adopt(claim) }, claims),
      adopt: (claim) => void this.#adopt(claim),
    });
    this.#unfollow = store.log.follow(
      ({ runId, rows }) => this.#mailboxes.get(runId)?.sawCommit(rows.at(-1)?.seq ?? -1),
      { waits: ({ runId }) => this.#mailboxes.has(runId) },
    );
  }

  #creationPorts(pins: RunPins): RunCreationPorts {
    const { vault = null } = this.#options;
    return {
      ...this.#options,
      vault,
      redaction: this.#redaction,
      pins,
      shares: this.shares,
      workflows: this.#workflows,
      isSteppedHere: (id) => this.#mailboxes.has(id),
      open: (id, creation) => this.#open(id, creation),
    };
  }

  #mailboxPorts(leaseMs: number): MailboxPorts {
    const { store, clock, sha256, owner, report, limits, eventLoop = null } = this.#options;
    const notices: NoticePorts = {
      report,
      write: (run, propose) => this.#commands.run(() => this.#write(run, commands.noticeCommand(propose), 'step')),
    };
    return {
      ...{ store, clock, sha256, owner, leaseMs, limits, report },
      stopped: stoppedRuns(report, clock),
      turns: new Turns(eventLoop, this.shares),
      crashes: this.#options.crashes ?? null,
      shares: this.shares,
      redactor: this.#redactor,
      secretsOf: this.#secretsOf,
      sealing: this.#creation,
      loader: this.#loader,
      shortWaits: new ShortWaits(),
      sources: { store, format: STATE_FORMAT },
      recorded: new RecordedResults(store.log, sha256),
      performers: this.#steps.performers,
      tellRelatives: (tenant, state, relatives) => {
        if (!this.#closed) notifyRelatives(notices, { tenant, state }, relatives);
      },
      isUnwanted: unwantedBy(store.log, this.#loader, (keeper) => this.#mailboxes.get(keeper)),
      wakeBy: (at) => this.#scheduler.wakeBy(at),
      emptied: (id, mailbox) => {
        if (this.#mailboxes.get(id) !== mailbox) return;
        this.#mailboxes.delete(id);
        this.shares.runClosed(mailbox.tenant);
      },
    };
  }

  #startChild(child: ChildStart): Promise<RunStarted> {
    return this.#commands.run(() => createRun(this.#creation, startOfChild(child), child));
  }

  async open(): Promise<void> {
    const open = ({ tenant, runId }: RunOfTenant) => this.#open(runId, { kind: 'resting', tenant });
    await settleDeaths({ ...this.#ports, open });
    await this.#scheduler.open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#scheduler.close();
    await Promise.all([...this.#mailboxes.values()].map((mailbox) => mailbox.close()));
    await this.#commands.settled();
    this.#unfollow();
  }

  start(request: StartRun): Promise<RunStarted> {
    return this.#commands.run(() => createRun(this.#creation, this.#redaction.start(request)));
  }

  fork(request: ForkRun): Promise<RunForked> {
    return this.#commands.run(() => forkRun(this.#forks, request));
  }

  retry(request: RetryRun): Promise<RunForked> {
    return this.#commands.run(() => retryRun(this.#forks, request));
  }

  answer(request: AnswerInterrupt): Promise<InterruptAnswered> {
    const valueFor = this.#redaction.answer(request.value, request.tenant);
    return this.#send(request, () => commands.answerCommand(request, valueFor, this.#creation));
  }

  cancel(request: CancelRun): Promise<RunCancelled> {
    return this.#send(request, () => commands.cancelCommand(this.#redaction.reason(request)));
  }

  cancelCall(request: CancelCall): Promise<RunCancelled> {
    const clean = this.#redaction.reason(request);
    return this.#send(request, async () => {
      const stopped = await this.#mailboxes.get(request.runId)?.cancelCall(clean.callId, cancelError(clean.reason));
      return commands.cancelCallCommand(clean, stopped ?? false);
    });
  }

  pause(request: PauseRun): Promise<RunPaused> {
    return this.#send(request, () => commands.pauseCommand(this.#redaction.reason(request)));
  }

  resume(request: ResumeRun): Promise<RunResumed> {
    return this.#send(request, () => commands.resumeCommand(this.#redaction.reason(request)));
  }

  #send<Answer extends object>(
    { tenant, runId }: RunOfTenant,
    command: () => commands.Command<Answer> | Promise<commands.Command<Answer>>,
  ): Promise<Answer> {
    return this.#commands.run(async () => {
      await this.#ofTenant(tenant, runId);
      return this.#write({ tenant, runId }, await command(), 'command');
    });
  }

  async snapshot(tenant: string, id: RunId): Promise<RunSnapshot> {
    return (await this.snapshotAt(tenant, id)).snapshot;
  }

  snapshotAt(tenant: string, id: RunId): Promise<SnapshotAt> {
    const ports = { ...this.#options, loader: this.#loader };
    return currentSnapshot(this.#mailboxes.get(id), ports, { tenant, runId: id });
  }

  async register(...[tenant, definition, options]: Parameters<Engine['register']>) {
    refuseSecrets(this.#redactor, 'The workflow', definition);
    return this.#workflows.register(tenant, definition, options);
  }

  async workflow(tenant: string, workflowId: string, version?: string) {
    return (await this.#workflows.byName(tenant, workflowId, version)).definition;
  }

  nodeTypes() {
    return describeNodeTypes(this.#steps.nodeTypes);
  }

  defineSteps(steps: readonly Step[]): void {
    this.#steps.replace(steps);
    this.#workflows.forgetCompiled();
  }

  /** Writes a command's fact: through the local mailbox, or without the lease if another node holds the run. */
  async #write<Answer extends object>(
    { tenant, runId: id }: RunOfTenant,
    command: commands.Command<Answer>,
    urgency: Urgency,
  ): Promise<Answer> {
    const { clock } = this.#options;
    const record = recordFor(command.idempotency, clock);
    const { fact, done } = awaited(command.propose, command.look, record);
    const mailbox = this.#mailboxes.get(id) ?? this.#open(id, { kind: 'resting', tenant });
    mailbox.post(fact, urgency);
    try {
      return await done;
    } catch (error) {
      if (!isCairnError(error, 'lease_held') && !isCairnError(error, 'lease_lost')) throw error;
    }
    if (this.#closed) throw engineStopping();
    const answer = await appendUnleased(this.#ports, { now: clock.now(), runId: id, command, recordFor: record });
    this.#scheduler.nudge();
    return answer;
  }

  #open(id: RunId, opening: MailboxOpening): Mailbox {
    if (this.#closed) throw engineStopping();
    const mailbox = new Mailbox(id, opening, this.#ports);
    this.#mailboxes.set(id, mailbox);
    this.shares.runOpened(mailbox.tenant);
    return mailbox;
  }

  #adopt({ runId: id, tenant, fence }: Claim): Mailbox | null {
    // Claimed while the engine was closing: release it at once.
    if (this.#closed) {
      void this.#commands.run(() => releaseLease(this.#ports, { runId: id, fence, wakeAt: this.#options.clock.now() }));
      return null;
    }
    const mailbox = this.#mailboxes.get(id);
    mailbox?.adopt(fence);
    return mailbox ?? this.#open(id, { kind: 'claimed', tenant, fence });
  }

  isSteppedHere(tenant: string, id: RunId): boolean {
    return this.#mailboxes.get(id)?.tenant === tenant;
  }

  async #ofTenant(tenant: string, id: RunId): Promise<void> {
    // Reading its head may wait for a flush.
    if (!this.isSteppedHere(tenant, id)) await refuseForeignRun(this.#options.store.log, { tenant, runId: id });
  }
}
