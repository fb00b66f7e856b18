/** Creates runs: finds the workflow, pins agents and prompt templates, and posts the first rows to a new mailbox. */
import { type ContextId, contextId, RetryableError, type RunId, row, runId } from '@cairn/protocol';
import type { Store } from '../../log/ports/store.ts';
import type { EntryRedaction } from '../attempts/entry-redaction.ts';
import { awaited } from '../core/facts.ts';
import type { HostLimits } from '../core/limits.ts';
import { newRunState } from '../core/new-run-state.ts';
import type { Draft } from '../core/state.ts';
import type { RunStarted, StartRun } from '../engine.ts';
import type { ChildStart } from '../family/child-performer.ts';
import { contextNotFound } from '../loading/run-loader.ts';
import type { RunPins } from '../pins/run-pins.ts';
import type { Clock } from '../ports.ts';
import { sealedRow } from '../sensitive/references.ts';
import { type SealPorts, sealInputs } from '../sensitive/seal-inputs.ts';
import type { TenantShares } from '../shares/tenant-shares.ts';
import type { EngineOptions } from '../stepping/engine-options.ts';
import type { Mailbox } from '../stepping/mailbox.ts';
import type { RunCreation } from '../stepping/mailbox-ports.ts';
import type { WorkflowRegistry } from '../workflow/workflow-registry.ts';
import { idTokenOf } from './id-token.ts';
import { recordFor } from './idempotency-record.ts';
import { callbackDrafts, startedDraft } from './start-run.ts';

export interface RunCreationPorts extends SealPorts {
  readonly store: Pick<Store, 'log' | 'changes' | 'contexts'>;
  readonly clock: Clock;
  readonly limits: HostLimits;
  readonly runOptions?: readonly string[];
  readonly thoughtPolicy?: EngineOptions['thoughtPolicy'];
  readonly internalEvents?: boolean;
  readonly workflows: WorkflowRegistry;
  readonly pins: RunPins;
  readonly redaction: Pick<EntryRedaction, 'sealedInputs' | 'inputs' | 'overlay'>;
  readonly shares: TenantShares;
  readonly isSteppedHere: (id: RunId) => boolean;
  readonly open: (id: RunId, creation: RunCreation) => Mailbox;
}

/** Resolves once the run's first rows are durable. */
export async function createRun(ports: RunCreationPorts, request: StartRun, child?: ChildStart): Promise<RunStarted> {
  const { uniqueId, limits, clock, workflows } = ports;
  const { tenant, workflowId, version, definition } = request;
  if (child === undefined) ports.shares.start(tenant);
  else ports.shares.startChild(tenant);
  const shared =
    definition === undefined
      ? await workflows.byName(tenant, workflowId, version)
      : await workflows.adopt(tenant, definition);
  const pins = await ports.pins.find(tenant, shared);
  const workflow = await ports.pins.give(shared, pins);
  const { inputs } = request;
  const sealing = sealInputs(ports, { definition: workflow.definition, tenant, inputs }, child?.child.sealed);
  const id = child?.child.childRunId ?? runId(uniqueId());
  const context = request.contextId ?? contextId(uniqueId());
  if (request.contextId !== undefined && child === undefined) await refuseForeignContext(ports, request, context);
  const started = startedDraft({
    workflow,
    request: { ...request, contextId: context, child },
    limits,
    idToken: idTokenOf(id, ports.sha256),
    knownOptions: ports.runOptions,
    thoughtPolicy: ports.thoughtPolicy,
    internalEvents: ports.internalEvents,
    pins,
    // A child's inputs come from its parent, not from a caller.
    shownInputs: child === undefined ? ports.redaction.sealedInputs(sealing?.inputs ?? inputs) : sealing?.inputs,
  });
  const drafts = [
    started,
    ...(sealing === null ? [] : [sealedRow(sealing.sealed)]),
    ...callbackDrafts(request.callbackUrl),
    ...heldBack(request),
  ];
  const { fact, done } = awaited(
    () => drafts,
    (state) => ({ runId: id, contextId: context, status: state.view.status }),
    recordFor(request.idempotency, clock),
  );
  // An earlier attempt to start the same child succeeded after all: a run has one mailbox.
  if (ports.isSteppedHere(id)) throw alreadyStepped(id);
  const mailbox = ports.open(id, {
    kind: 'create',
    state: newRunState(id),
    workflow,
    run: { tenant, contextId: context, originRunId: id, parentRunId: child?.askedBy.runId },
    isAloneInScope: request.isAloneInScope,
    isNamedContext: request.mayBeginContext,
  });
  mailbox.post(fact, child === undefined ? 'start' : 'step');
  return done;
}

/** The pause is in the commit of the start, so that no node begins before it. */
const heldBack = ({ heldBack: reason }: StartRun): readonly Draft[] =>
  reason === undefined ? [] : [row('cairn.pause.requested', { drainPolicy: 'immediate', reason })];

/** Two tenants may name the same new context at once: the append of the second is refused. */
async function refuseForeignContext(
  { store }: RunCreationPorts,
  { tenant, mayBeginContext = false }: StartRun,
  id: ContextId,
): Promise<void> {
  const owner = (await store.contexts.tenant(id)) ?? (mayBeginContext ? tenant : null);
  if (owner !== tenant) throw contextNotFound(id);
}

const alreadyStepped = (id: RunId): RetryableError =>
  new RetryableError('conflict', {
    message: `Run ${id} is at work here already.`,
    hint: 'Read the run to see whether it is the one that you meant to start.',
  });
