/** Calls tools in tests, with a manual clock, the emitted rows, and records as the agent loop keeps them. */
import type { ContextId, Json, JsonObject, RunId } from '@cairn/protocol';
import type { CallContext, Emission, Redactor } from '../../engine/ports.ts';
import { SensitiveRedactor } from '../../redaction/sensitive-redactor.ts';
import type { ArtifactPort } from './artifact-port.ts';
import type { LateResult } from './entry.ts';
import type { SignInPort } from './sign-in.ts';
import type { Tool, ToolOutcome, ToolRecord } from './tool.ts';
import { createToolPerformer } from './tool-call.ts';
import { ToolRegistry } from './tool-registry.ts';

export interface ToolCaller {
  /** Calls a tool once with the caller's records. Each step of the call adds a record. */
  call(tool: Tool, input?: Json, options?: CallOptions): Promise<ToolOutcome>;
  /** Records an answer at the place where the last call was suspended. */
  answer(suspended: ToolOutcome, outcome: Json): void;
  readonly rows: Emission[];
  readonly records: ToolRecord[];
  readonly cancel: AbortController;
  /** Moves the clock and fires due timers. */
  pass(ms: number): void;
  /** The number of pending timers. */
  readonly waiting: number;
}

interface CallOptions {
  readonly attempt?: number;
  /** False: the host has no such tool. */
  readonly isOffered?: boolean;
  readonly principal?: string | null;
  /** From now on rows never become durable. */
  readonly isLost?: boolean;
  /** An abort of `cancel` cancels this call; otherwise the run has given it up. */
  readonly isCanceled?: boolean;
}

interface ToolCallerOptions {
  readonly redactor?: Redactor;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly artifacts?: ArtifactPort;
  readonly signIns?: SignInPort;
  readonly takeCall?: (tenant: string, principal: string | null, toolId: string) => number;
  readonly lateResult?: (call: LateResult) => void;
}

/** Nobody is signed in, and everybody is asked for an API key. */
export const askingSignIns: SignInPort = {
  begin: async () => ({ challenge: { authType: 'api-key' } }),
  token: () => Promise.reject(new Error('Nobody is signed in.')),
  hiding: (value, redactor) => new SensitiveRedactor([{ reference: '[HIDDEN]', value }], [], redactor),
};

/** For tools that write no artifacts. */
const none: ArtifactPort = {
  file: () => {
    throw new Error('The caller has no artifacts.');
  },
  dataset: () => {
    throw new Error('The caller has no artifacts.');
  },
  data: () => Promise.reject(new Error('The caller has no artifacts.')),
  value: () => Promise.reject(new Error('The caller has no artifacts.')),
};

export function toolCaller(options: ToolCallerOptions = {}): ToolCaller {
  let now = 1_000;
  const timers = new Set<{ at: number; wake: () => void }>();
  const rows: Emission[] = [];
  const records: ToolRecord[] = [];
  const cancel = new AbortController();
  const after = (ms: number, wake: () => void) => {
    const timer = { at: now + ms, wake };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const emit = (emitted: readonly Emission[]): undefined => {
    rows.push(...emitted);
    for (const { type, payload } of emitted) if (type === 'cairn.step.returned') records.push(stepRecord(payload));
  };
  return {
    rows,
    records,
    cancel,
    get waiting() {
      return timers.size;
    },
    async call(
      tool,
      input = {},
      { attempt = 1, principal = 'ann', isLost = false, isOffered = true, isCanceled = false } = {},
    ) {
      const { run } = createToolPerformer({
        registry: new ToolRegistry(isOffered ? [tool] : []),
        now: () => now,
        after,
        secret: (_tenant, name) => options.secrets?.[name],
        artifacts: options.artifacts ?? none,
        signIns: options.signIns ?? askingSignIns,
        lateResult: options.lateResult ?? (() => undefined),
        takeCall: options.takeCall ?? (() => 0),
      });
      const context: CallContext = {
        runId: 'run_1' as RunId,
        nodeId: 'agent',
        callId: 'agent#0.0/t1.0',
        idempotencyKey: 'key',
        attempt,
        signal: cancel.signal,
        tenant: 'acme',
        contextId: 'ctx_1' as ContextId,
        requestedSeq: 7,
        emit,
        open: (value) => value,
        redactor: options.redactor ?? null,
        reusable: () => Promise.resolve(null),
        isCanceled,
        recorded: () => (isLost ? Promise.reject(new Error('over')) : Promise.resolve()),
      };
      const asked = {
        toolId: tool.id,
        input,
        agentId: 'core.a.b.c',
        turnId: 'agent#0.0/t1',
        records: [...records],
        principal,
      };
      return (await run(asked as JsonObject, context)) as ToolOutcome;
    },
    answer(suspended, outcome) {
      if (suspended.kind !== 'suspended') throw new Error(`The call is not suspended: ${JSON.stringify(suspended)}`);
      const { ordinal, question } = suspended;
      records.push({ ordinal, kind: question.kind, name: question.name, outcome });
    },
    pass(ms) {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at > now || !timers.delete(timer)) continue;
        timer.wake();
      }
    },
  };
}

function stepRecord(payload: JsonObject): ToolRecord {
  const { ordinal, name, ctx = 'step', outcome, error } = payload as { ordinal: number; name: string } & JsonObject;
  const known = { ordinal, kind: ctx, name };
  return (error === undefined ? { ...known, outcome } : { ...known, error }) as ToolRecord;
}
