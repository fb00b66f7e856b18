/** Thoughts that follow from what an agent does: plans, reflections, observations, and the choices of supervisors. */
import { audienceOf } from '../events/audiences.ts';
import type { Audience, EventOf, FoldEvent } from '../events/event.ts';
import type { Draft } from '../events/row.ts';
import { payloadId } from '../ids.ts';
import { SUPERVISOR } from './children.ts';
import { own } from './dictionary.ts';
import type { NodeView } from './nodes.ts';
import type { DerivedThought, RunView } from './run-view.ts';

const MAX_CONTENT = 1_000;

/** Notes what the row makes the agent think, and whether the task view shows it. */
export function foldThoughts(view: RunView, event: FoldEvent): void {
  const node = own(view.nodeStates, event.nodeId ?? '');
  if (node === undefined) return;
  switch (event.type) {
    case 'agent.reasoned':
      // A loop that records no reasoning writes no such row.
      if (event.payload.thoughtType === undefined) node.thinks = true;
      break;
    case 'agent.decided':
      node.decidedSeq = event.seq;
      break;
    case 'agent.toolReturned':
      if (event.payload.error !== undefined) node.trouble = troubleOf(event);
      break;
    case 'node.retried':
      if (node.isAgent) node.failure = event.payload.lastError?.message ?? 'the attempt failed';
      break;
    case 'cairn.model.returned':
      if (event.payload.error !== undefined) node.failure = event.payload.error.message;
      else turnTaken(view, node, event);
      break;
    case 'cairn.model.requested':
      think(view, node, secondThought(node, event));
      break;
    case 'runOrchestrator.decided':
      think(view, node, strategyOf(view, node, event));
  }
}

function turnTaken(view: RunView, node: NodeView, event: EventOf<'cairn.model.returned'>): void {
  if ((event.payload.turn?.toolCalls.length ?? 0) > 1) node.callsAtOnce = true;
  else delete node.callsAtOnce;
  think(view, node, planOf(event));
}

function think(view: RunView, node: NodeView, thought: DerivedThought | null): void {
  const isSilent = view.configurable?.reasoningVerbosity === 'off';
  if (thought === null || isSilent || (node.agentId !== null && node.thinks !== true)) return;
  view.derived = { ...thought, content: cut(thought.content) };
  view.thoughts += 1;
}

const cut = (text: string): string =>
  text.length > MAX_CONTENT ? `${text.slice(0, MAX_CONTENT).toWellFormed()}…` : text;

const troubleOf = ({ payload: { callId, toolName, error } }: EventOf<'agent.toolReturned'>) => ({
  callId,
  text: cut(`${toolName} failed: ${error?.message ?? 'no result'}`),
});

/** One call needs no plan: its `tool-start` says it. */
function planOf({ payload: { turn } }: EventOf<'cairn.model.returned'>): DerivedThought | null {
  const calls = turn?.toolCalls ?? [];
  if (calls.length < 2) return null;
  const content = `Next: ${calls.map(({ name }) => name).join(', ')}.`;
  return { thoughtType: 'planning', verbosity: 'brief', content };
}

/** Why the model is asked again. Each reason is told once. */
function secondThought(node: NodeView, { payload }: EventOf<'cairn.model.requested'>): DerivedThought | null {
  const { failure, trouble } = node;
  delete node.failure;
  delete node.trouble;
  if (payload.repairs === true) {
    const content = `The result did not fit, so I give it once more. ${payload.note ?? ''}`.trimEnd();
    return { thoughtType: 'reflection', verbosity: 'normal', content };
  }
  if (failure !== undefined) {
    return { thoughtType: 'reflection', verbosity: 'normal', content: `I try again: ${failure}` };
  }
  if (trouble === undefined) return null;
  const { callId, text } = trouble;
  return { thoughtType: 'observation', verbosity: 'brief', content: text, metadata: { relatedTo: callId } };
}

function strategyOf(
  view: RunView,
  node: NodeView,
  { payload: { decision } }: EventOf<'runOrchestrator.decided'>,
): DerivedThought | null {
  if (node.typeId !== SUPERVISOR) return null;
  const { decidedSeq } = node;
  const others = view.childRuns.map(({ workflowId }) => workflowId).filter((id) => id !== '');
  const chosen = decision.kind === 'next-worker' ? decision.nextWorkerIds : [];
  const alternatives = [...new Set(others)].filter((id) => !chosen.includes(id)).slice(0, 20);
  const confidence = 'confidence' in decision ? decision.confidence : undefined;
  const metadata = {
    ...(confidence !== undefined && { confidence }),
    ...(alternatives.length > 0 && { alternatives }),
    ...(decidedSeq !== undefined && { relatedTo: thoughtIdAt(view, decidedSeq) }),
  };
  return {
    thoughtType: 'strategy',
    verbosity: 'normal',
    content: choiceOf(decision),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function choiceOf(decision: EventOf<'runOrchestrator.decided'>['payload']['decision']): string {
  switch (decision.kind) {
    case 'next-worker':
      return `Send ${decision.nextWorkerIds.join(', ')}.`;
    case 'ask-user':
      return `Ask the user: ${decision.prompt}`;
    case 'terminate':
      return `End the run: ${decision.reason}`;
  }
}

/** The id of the thought that a row is shown as. */
export const thoughtIdAt = ({ idToken, runId }: Pick<RunView, 'idToken' | 'runId'>, seq: number): string =>
  idToken === null ? `${runId}:${seq}` : payloadId(idToken, 'thought', String(seq));

/** Whether only operators see a thought: it says so itself, or the policy that the run started with does. */
export function isPrivateThought(
  { thoughtPolicy }: Pick<RunView, 'thoughtPolicy'>,
  { visibility, confidence }: { readonly visibility?: string | undefined; readonly confidence?: number | undefined },
): boolean {
  if (visibility === 'operator' || thoughtPolicy?.visibility === 'operator') return true;
  return confidence !== undefined && confidence < (thoughtPolicy?.minConfidence ?? 0);
}

/** The audience of a row: that of its type, except for the text of a private thought, which only operators see. */
export const audienceIn = (view: RunView, event: FoldEvent | Draft): Audience =>
  hasPrivateThought(view, event) ? 'operator' : audienceOf(event.type);

function hasPrivateThought(view: RunView, event: FoldEvent | Draft): boolean {
  if (event.type === 'agent.reasoning.delta') return isPrivateThought(view, {});
  return event.type === 'agent.reasoned' && isPrivateThought(view, event.payload);
}
