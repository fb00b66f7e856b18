/**
 * One entry into the function of a tool, and the context the function gets. A recorded ctx call returns its record. A
 * ctx call that waits for a person ends the entry, and the function never continues past that await.
 */
import type { CallBudget, ContextId, Json, RunId } from '@cairn/protocol';
import type { CallContext, Emission, Redactor } from '../../engine/ports.ts';
import { type BegunCall, CallArtifacts } from './call-artifacts.ts';
import { CallRecords } from './call-records.ts';
import type { Entry, ToolEntryPorts } from './entry.ts';
import { resultOf } from './large-result.ts';
import { Progress, type ProgressReport, progressRow } from './progress.ts';
import { type Asked, asked, askedAgain } from './questions.ts';
import { signInAsked } from './sign-in.ts';
import { checkStepName, settledStep } from './step-settled.ts';
import type { HostQuestion, HostToolContext, Tool, ToolContext, ToolOutcome, ToolRecord } from './tool.ts';
import { failed, outcomeOf, type Settled, toolError } from './tool-error.ts';
import { secretOf } from './tool-secret.ts';
import { never, unwatched } from './unwatched.ts';

export class ToolEntry implements HostToolContext {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly agentId: string;
  readonly callId: string;
  readonly attempt: number;
  readonly tenant: string;
  readonly contextId: ContextId;
  readonly requestedSeq: number;
  readonly turnId: string;
  readonly budget: CallBudget | undefined;
  readonly #ports: ToolEntryPorts;
  readonly #tool: Tool;
  readonly #call: CallContext;
  readonly #principal: string | null;
  /** Also hides the credentials that the function has got. */
  #redactor: Redactor | null;
  readonly #records: CallRecords;
  readonly #progress: Progress;
  readonly #artifacts: CallArtifacts;
  #stop: AbortController | null = null;
  /** Pending steps. They are recorded before a question ends the entry; otherwise they would run twice. */
  readonly #steps = new Set<Promise<unknown>>();
  /**
   * `asking`: a question ends the entry once all pending steps are recorded. `stopping`: the call is canceled, and the
   * function has a while to end.
   */
  #phase: 'running' | 'asking' | 'stopping' | 'over' = 'running';
  /** The call was given up while the function ran: its result is dropped. */
  #isGivenUp = false;
  #end: (outcome: ToolOutcome) => void = () => undefined;

  constructor({ tool, agentId, turnId, principal, records, reasoning, budget, call }: Entry, ports: ToolEntryPorts) {
    this.runId = call.runId;
    this.nodeId = call.nodeId;
    this.agentId = agentId;
    this.callId = call.callId;
    this.attempt = call.attempt;
    this.tenant = call.tenant;
    this.contextId = call.contextId;
    this.requestedSeq = call.requestedSeq;
    this.turnId = turnId;
    this.budget = budget;
    this.#ports = ports;
    this.#tool = tool;
    this.#call = call;
    this.#principal = principal;
    this.#redactor = call.redactor;
    this.#records = new CallRecords(tool.id, records);
    const begin = (name: string): BegunCall => this.#begin(name);
    this.#artifacts = new CallArtifacts({ port: ports.artifacts, call: this, reasoning, begin });
    this.#progress = new Progress({ ...ports, write: (report) => this.#writeProgress(report) });
  }

  /** Created on first use: most tools do not need it. */
  get signal(): AbortSignal {
    this.#stop ??= new AbortController();
    if (this.#phase === 'stopping' || this.#phase === 'over') this.#stop.abort();
    return this.#stop.signal;
  }

  get idempotencyKey(): string {
    return this.#call.idempotencyKey;
  }

  /** Enters the function. Resolves when it ends, waits for a person, times out or is cancelled, and then releases it. */
  enter(input: unknown): Promise<ToolOutcome> {
    const { signal } = this.#call;
    const { id, timeoutMs } = this.#tool;
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#isGivenUp = this.#phase === 'running';
        if (this.#call.isCanceled && this.#isGivenUp) this.#stopFunction();
        else this.#end(this.#canceled());
      };
      const tooLate = failed('tool_timeout', `The tool ${id} did not finish within ${timeoutMs} ms.`, true);
      const callOff = this.#ports.after(timeoutMs, () => this.#end(tooLate));
      this.#end = (outcome) => {
        this.#phase = 'over';
        this.#end = () => undefined;
        callOff();
        signal.removeEventListener('abort', giveUp);
        this.#progress.end();
        this.#artifacts.abandonAll();
        // Also after a return: work that the function left running has no consumer.
        this.#stop?.abort(new Error('The call is over.'));
        resolve(outcome);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
      else this.#run(input);
    });
  }

  readonly #canceled = () => failed('tool_canceled', `The call of ${this.#tool.id} was given up.`);

  /** The engine decides how long the function may take to end. */
  #stopFunction(): void {
    this.#phase = 'stopping';
    this.#artifacts.abandonAll();
    this.#stop?.abort(new Error('The call was canceled.'));
  }

  #run(input: unknown): void {
    const threw = (error: unknown) => {
      if (this.#phase === 'stopping') this.#end(this.#canceled());
      if (this.#phase === 'running') this.#end({ kind: 'failed', error: toolError(error, this.#redactor) });
    };
    try {
      // A fault in the result also fails the call, never the host.
      this.#tool
        .run(input, this)
        .then((value) => this.#returned(value))
        .catch(threw);
    } catch (error) {
      threw(error);
    }
  }

  async #returned(value: unknown): Promise<void> {
    if (this.#isGivenUp) {
      this.#ports.lateResult({ toolId: this.#tool.id, runId: this.runId, callId: this.callId });
      this.#end(this.#canceled());
    }
    if (this.#phase !== 'running') return;
    const unclosed = this.#artifacts.leftOpen(this.#tool.id);
    const wrong = this.#records.leftOut() ?? (unclosed === null ? null : failed('tool_failed', unclosed));
    const ports = { artifacts: this.#ports.artifacts, call: this, isAwaited: () => this.#phase === 'running' };
    this.#end(wrong ?? (await resultOf(this.#tool, value, ports)));
  }

  /** Ignores progress while the function replays recorded ctx calls. */
  readonly progress: ToolContext['progress'] = (share, message, steps) => {
    if (this.#phase === 'running' && !this.#records.isReplayed) this.#progress.tell(share, message, steps);
  };

  #writeProgress(report: ProgressReport): void {
    const row = progressRow(this, this.#tool.id, { ...report, clean: (words) => this.#clean(words) });
    this.#call.emit([row])?.catch(() => undefined);
  }

  readonly ask = <Answer = Json>(question: HostQuestion<Answer>): Promise<Answer> =>
    unwatched(this.#ask(() => asked(question)));
  readonly signIn: ToolContext['signIn'] = (request) =>
    unwatched(
      this.#ask(() =>
        signInAsked(request, {
          port: this.#ports.signIns,
          owner: { tenant: this.tenant, principal: this.#principal, contextId: this.contextId },
          handOut: (value) => {
            this.#redactor = this.#ports.signIns.hiding(value, this.#redactor);
          },
        }),
      ),
    );

  /** Asks again while the recorded answers are refused, each time as the next ctx call. */
  async #ask<Answer>(checked: () => Asked<Answer>): Promise<Answer> {
    const asking = checked();
    const { question: first, read } = asking;
    for (let question = first; ; ) {
      const ordinal = this.#take();
      if (ordinal === null) return never();
      const known = this.#recorded(ordinal, question.kind, question.name);
      if (known === 'diverged') return never();
      const found = known ?? (await this.#unanswered(ordinal, { ...asking, question }));
      if (found === null) return never();
      const answer = read(this.#call.open(outcomeOf(found)));
      if ('value' in answer) return answer.value;
      question = askedAgain(first, this.#clean(answer.problem));
    }
  }

  /** Ends the entry with the question, unless it turns out that there is nothing to ask. Null when the entry is over. */
  async #unanswered(ordinal: number, { question: first, prepare }: Asked<unknown>): Promise<Settled | null> {
    const prepared = prepare === undefined ? { question: first } : await prepare();
    if (this.#phase !== 'running') return null;
    if ('ready' in prepared) {
      const outcome = prepared.ready;
      await this.#recordCall(ordinal, first.name, { ctx: first.kind, outcome });
      return this.#phase === 'running' ? { outcome } : null;
    }
    this.#phase = 'asking';
    this.#artifacts.abandonAll();
    await Promise.allSettled(this.#steps);
    const question = this.#redactor?.value(prepared.question) ?? prepared.question;
    this.#end({ kind: 'suspended', ordinal, question });
    return null;
  }

  readonly step = <Result extends Json>(name: string, work: () => Result | Promise<Result>): Promise<Result> =>
    unwatched(this.#step(name, work));

  async #step<Result extends Json>(name: string, work: () => Result | Promise<Result>): Promise<Result> {
    checkStepName(this.#tool.id, name);
    const begun = this.#begin(name);
    if (begun === null) return never();
    return ('known' in begun ? begun.known : await begun.end(work)) as Result;
  }

  /** Begins a ctx call that is recorded when it ends. A recorded error is thrown again. */
  #begin(name: string): BegunCall {
    const ordinal = this.#take();
    if (ordinal === null) return null;
    const known = this.#recorded(ordinal, 'step', name);
    if (known === 'diverged') return null;
    if (known !== undefined) return { known: this.#call.open(outcomeOf(known)) };
    return { end: (work) => this.#endStep(ordinal, name, work) };
  }

  async #endStep(ordinal: number, name: string, work: () => unknown): Promise<Json> {
    const done = this.#perform(ordinal, name, work);
    this.#steps.add(done);
    const settled = await done;
    this.#steps.delete(done);
    // After a question the function does not continue. The next entry gets this result from the record.
    if (settled === null || this.#phase !== 'running') return never();
    return this.#call.open(outcomeOf(settled));
  }

  /** Null when the attempt is over, so that the step is never recorded. */
  async #perform(ordinal: number, name: string, work: () => unknown): Promise<Settled | null> {
    const settled = await settledStep(name, work, () => this.#redactor);
    if (this.#phase === 'over') return null;
    try {
      await this.#recordCall(ordinal, name, settled);
      return settled;
    } catch {
      return null;
    }
  }

  #recordCall(ordinal: number, name: string, result: Settled & { readonly ctx?: 'ask' | 'signIn' }): Promise<void> {
    const { nodeId, attempt, callId: of } = this;
    const payload = { nodeId, callId: `${of}.${ordinal}`, attempt, of, ordinal, name: this.#clean(name), ...result };
    return this.record([{ type: 'cairn.step.returned', payload }]);
  }

  readonly file: ToolContext['file'] = (name, options) => this.#artifacts.file(name, options);
  readonly dataset: ToolContext['dataset'] = (name, options) => this.#artifacts.dataset(name, options);
  readonly data: ToolContext['data'] = (name, record, options) =>
    unwatched(this.#artifacts.data(name, record, options));
  readonly think: ToolContext['think'] = (content, options) => unwatched(this.#artifacts.think(content, options));

  get isReplayed(): boolean {
    return this.#records.isReplayed;
  }

  get redactor() {
    return this.#redactor;
  }

  readonly secret = (name: string): string =>
    secretOf(this.#tool, name, (known) => this.#ports.secret(this.tenant, known));

  readonly record = async (rows: readonly Emission[]): Promise<void> => {
    await this.#call.emit(rows);
    await this.#call.recorded();
  };

  /** The ordinal of a ctx call; null when the function should no longer run. */
  #take(): number | null {
    if (this.#phase !== 'running') return null;
    const taken = this.#records.take();
    if (typeof taken === 'number') return taken;
    this.#end(taken);
    return null;
  }

  /** What an earlier entry recorded at this ordinal; undefined when there is nothing. */
  #recorded(ordinal: number, kind: ToolRecord['kind'], name: string): Settled | 'diverged' | undefined {
    const found = this.#records.at(ordinal, kind, this.#clean(name));
    if (found === undefined || !('diverged' in found)) return found;
    this.#end(found.diverged);
    return 'diverged';
  }

  #clean(text: string): string {
    return this.#redactor?.text(text) ?? text;
  }
}
